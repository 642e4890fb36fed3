/*
 * Names that programs of one allocation publish for each other (MPI_Publish_name). They are kept by the leader,
 * so that other nodes and other launches find them; this file only encodes them. A value is the library's encoding, with
 * its publisher in front: NAMESPACE.RANK.VALUE, all but the rank in hexadecimal.
 */
#include "lattice-pmix.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WAITING 1024
#define MAX_FOUND 256

struct waiting {
  unsigned id; /* 0: the slot is free */
  pmix_op_cbfunc_t done;
  pmix_lookup_cbfunc_t found;
  void *data;
};

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static struct waiting table[MAX_WAITING];
static unsigned last_id;

/* Returns 0 when too many requests wait. */
static unsigned wait_for(pmix_op_cbfunc_t done, pmix_lookup_cbfunc_t found, void *data) {
  unsigned id = 0;
  pthread_mutex_lock(&asking);
  for (unsigned at = 0; at < MAX_WAITING && id == 0; at++) {
    if (table[at].id != 0) continue;
    id = ++last_id;
    table[at] = (struct waiting){id, done, found, data};
  }
  pthread_mutex_unlock(&asking);
  return id;
}

static struct waiting take(unsigned id) {
  struct waiting taken = {0};
  pthread_mutex_lock(&asking);
  for (unsigned at = 0; at < MAX_WAITING; at++) {
    if (id == 0 || table[at].id != id) continue;
    taken = table[at];
    table[at].id = 0;
  }
  pthread_mutex_unlock(&asking);
  return taken;
}

struct words {
  char *text;
  size_t length;
};

static void add(struct words *words, const char *before, char *more) {
  size_t needed = words->length + strlen(before) + strlen(more) + 1;
  words->text = realloc(words->text, needed);
  if (words->text == NULL || more == NULL) exit(1);
  words->length += (size_t)sprintf(words->text + words->length, "%s%s", before, more);
  free(more);
}

/* The library's own keys are directives, not data. */
static int is_own(const char *key) { return strncmp(key, "pmix.", 5) == 0; }

static char *packed(const pmix_proc_t *proc, const pmix_value_t *value) {
  pmix_data_buffer_t buffer;
  pmix_byte_object_t bytes;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  if (PMIx_Data_pack(NULL, &buffer, (void *)value, 1, PMIX_VALUE) != PMIX_SUCCESS) return NULL;
  PMIX_DATA_BUFFER_UNLOAD(&buffer, bytes.bytes, bytes.size);
  char *by = hex_of(proc->nspace, strlen(proc->nspace)), *hex = hex_of(bytes.bytes, bytes.size);
  size_t room = strlen(by) + strlen(hex) + 16;
  char *text = malloc(room);
  if (text != NULL) snprintf(text, room, "%s.%u.%s", by, proc->rank, hex);
  free(by);
  free(hex);
  free(bytes.bytes);
  return text;
}

pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t count, pmix_op_cbfunc_t done,
                         void *data) {
  struct words words = {calloc(1, 1), 0};
  for (size_t at = 0; at < count; at++) {
    if (is_own(info[at].key)) continue;
    char *value = packed(proc, &info[at].value);
    if (value == NULL) return PMIX_ERR_PACK_FAILURE;
    add(&words, " ", hex_of(info[at].key, strlen(info[at].key)));
    add(&words, " ", value);
  }
  unsigned id = wait_for(done, NULL, data);
  if (id != 0) say("publish %u 0%s", id, words.text);
  free(words.text);
  return id == 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

static struct words hex_keys(char **keys) {
  struct words words = {calloc(1, 1), 0};
  for (char **at = keys; at != NULL && *at != NULL; at++) add(&words, " ", hex_of(*at, strlen(*at)));
  return words;
}

/* Returns how many seconds to wait for missing names. */
#define MAX_WAIT 60

pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t count,
                        pmix_lookup_cbfunc_t done, void *data) {
  (void)proc;
  int waits = 0, limit = MAX_WAIT;
  for (size_t at = 0; at < count; at++) {
    if (strcmp(info[at].key, PMIX_WAIT) == 0) waits = 1;
    if (strcmp(info[at].key, PMIX_TIMEOUT) == 0 && info[at].value.data.integer > 0) limit = info[at].value.data.integer;
  }
  struct words words = hex_keys(keys);
  unsigned id = wait_for(NULL, done, data);
  if (id != 0) say("lookup %u %d%s", id, waits ? limit : 0, words.text);
  free(words.text);
  return id == 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t count,
                           pmix_op_cbfunc_t done, void *data) {
  (void)proc;
  (void)info;
  (void)count;
  struct words words = hex_keys(keys);
  unsigned id = wait_for(done, NULL, data);
  if (id != 0) say("unpublish %u 0%s", id, words.text);
  free(words.text);
  return id == 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

static pmix_status_t status_of(const char *problem) {
  if (strcmp(problem, "ok") == 0) return PMIX_SUCCESS;
  if (strcmp(problem, "taken") == 0) return PMIX_ERR_DUPLICATE_KEY;
  return strcmp(problem, "unknown") == 0 ? PMIX_ERR_NOT_FOUND : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Returns 0 when the value has another format. */
static int unpacked(pmix_pdata_t *into, const char *key, char *text) {
  char *rank = strchr(text, '.'), *value = rank == NULL ? NULL : strchr(rank + 1, '.');
  if (value == NULL) return 0;
  *rank++ = 0;
  *value++ = 0;
  size_t key_size, by_size, size;
  char *name = bytes_of(key, &key_size), *by = bytes_of(text, &by_size), *bytes = bytes_of(value, &size);
  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  PMIX_DATA_BUFFER_LOAD(&buffer, bytes, size);
  int32_t one = 1;
  PMIX_LOAD_PROCID(&into->proc, by, (pmix_rank_t)strtoul(rank, NULL, 10));
  PMIX_LOAD_KEY(into->key, name);
  pmix_status_t status = PMIx_Data_unpack(NULL, &buffer, &into->value, &one, PMIX_VALUE);
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  free(name);
  free(by);
  return status == PMIX_SUCCESS;
}

void finish_names(char *words) {
  char *rest, *id = strtok_r(words, " ", &rest), *problem = strtok_r(NULL, " ", &rest);
  if (id == NULL || problem == NULL) return;
  struct waiting asked = take((unsigned)strtoul(id, NULL, 10));
  if (asked.id == 0) return;
  if (asked.done != NULL) {
    asked.done(status_of(problem), asked.data);
    return;
  }
  static pmix_pdata_t found[MAX_FOUND];
  size_t count = 0;
  char *key, *value;
  while (count < MAX_FOUND && (key = strtok_r(NULL, " ", &rest)) != NULL && (value = strtok_r(NULL, " ", &rest)) != NULL) {
    memset(&found[count], 0, sizeof found[count]);
    if (unpacked(&found[count], key, value)) count += 1;
  }
  asked.found(count > 0 ? PMIX_SUCCESS : status_of(problem), found, count, asked.data);
}
