/* Shared declarations of the PMIx server. */
#ifndef LATTICE_PMIX_H
#define LATTICE_PMIX_H

#include <pmix.h>
#include <pmix_server.h>
#include <stddef.h>

/* Writes one line to the shepherd. */
void say(const char *format, ...);
/* The caller frees the result; NULL when out of memory. */
char *hex_of(const char *bytes, size_t size);
char *bytes_of(const char *hex, size_t *size);

/* names.c: names that programs publish for each other. */
pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t count, pmix_op_cbfunc_t done,
                         void *data);
pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t count,
                        pmix_lookup_cbfunc_t done, void *data);
pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t count,
                           pmix_op_cbfunc_t done, void *data);
/* Handles the words after "named" from the shepherd. */
void finish_names(char *words);

#endif
