/* Shared declarations of lattice-enter. */
#ifndef LATTICE_ENTER_H
#define LATTICE_ENTER_H
#include <sys/types.h>

/* Prints the reason with the system's message, or without it, and exits. */
void fail(const char *what) __attribute__((noreturn));
void refuse(const char *why) __attribute__((noreturn));

/* What the kernel says of a process. */
struct status {
    unsigned uids[4];
    unsigned long long bounding, effective;
    int no_new_privileges;
};

/* Opens /proc/PID: all that is opened below it belongs to the same process, or fails. */
int open_process(int target);

/* Reads the status of an opened process. Refuses unless its real, effective, saved and file system uids all are the
   owner's: a program with the setuid bit, or another process under the same id, is not entered. `owner`: NULL for any. */
struct status status_of(int process, const uid_t *owner);

/* Saves the seccomp filters of a process to a file; returns the exit status. */
int save_filters(int target, const uid_t *owner, const char *file);

/* Applies saved filters, oldest first. */
void load_filters(int descriptor);

/* Reads NAME=VALUE fields that end with a zero byte, up to the end of the descriptor, and closes it. */
char **read_variables(int descriptor);

#endif
