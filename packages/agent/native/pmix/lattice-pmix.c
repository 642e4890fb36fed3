/*
 * A PMIx server for the ranks of one launch on one node. It is started by the shepherd, which holds its standard input
 * and output, and it ends with them. Everything that concerns other nodes goes through the shepherd: this program knows
 * only its own ranks and the layout.
 *
 * Arguments: name of the launch, a folder to be made for its files, this node's place, then for
 * every node "NAME:FIRST:COUNT".
 *
 * Output, one line each:
 *   env RANK NAME=VALUE...     (fields divided by tabs) what a rank needs in its environment; one line for every rank
 *   ready                      all ranks may be started
 *   fence NUMBER HEX           all ranks of this node are in the fence; their data
 *   abort RANK STATUS TEXT     a rank wants the launch to end
 *   connected RANK             a rank has connected
 *   finalized RANK             a rank has finalized
 *   spawn RANK                 a rank wants more ranks, and is refused
 *   publish, lookup, unpublish ID SECONDS (KEY [VALUE])...   names, in hexadecimal; to be answered
 *   failed TEXT                nothing can be served
 * Input:
 *   fence NUMBER HEX           the data of all nodes, in node order
 *   named ID PROBLEM (KEY VALUE)...   about names; the problem is ok, taken, unknown or full
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lattice-pmix.h"
#include <ftw.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NODES 65536
#define MAX_INFO 24

struct node {
  const char *name;
  unsigned first;
  unsigned count;
};

static struct node nodes[MAX_NODES];
static unsigned node_count, own_place, world_size;
static pmix_nspace_t nspace;

static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;

void say(const char *format, ...) {
  va_list words;
  va_start(words, format);
  pthread_mutex_lock(&speaking);
  vprintf(format, words);
  putchar('\n');
  fflush(stdout);
  pthread_mutex_unlock(&speaking);
  va_end(words);
}

static void fail(const char *what, pmix_status_t status) {
  say("failed %s: %s", what, PMIx_Error_string(status));
  exit(1);
}

char *hex_of(const char *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  char *text = malloc(2 * size + 1);
  if (text == NULL) return NULL;
  for (size_t at = 0; at < size; at++) {
    text[2 * at] = digits[(unsigned char)bytes[at] >> 4];
    text[2 * at + 1] = digits[bytes[at] & 15];
  }
  text[2 * size] = 0;
  return text;
}

static unsigned value_of(char digit) { return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a' + 10); }

char *bytes_of(const char *hex, size_t *size) {
  *size = strlen(hex) / 2;
  char *bytes = malloc(*size + 1);
  if (bytes == NULL) return NULL;
  for (size_t at = 0; at < *size; at++) bytes[at] = (char)(value_of(hex[2 * at]) << 4 | value_of(hex[2 * at + 1]));
  bytes[*size] = 0;
  return bytes;
}

/* One fence at a time: all ranks of the launch take part in each. */
static pthread_mutex_t fencing = PTHREAD_MUTEX_INITIALIZER;
static pmix_modex_cbfunc_t fence_done;
static void *fence_data;
static unsigned fence_number;

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                              char *data, size_t size, pmix_modex_cbfunc_t done, void *done_data) {
  (void)info;
  (void)info_count;
  /* A fence over a subset of ranks would need concurrent fences, which are not supported. */
  if (count != 1 || procs[0].rank != PMIX_RANK_WILDCARD || strncmp(procs[0].nspace, nspace, PMIX_MAX_NSLEN) != 0)
    return PMIX_ERR_NOT_SUPPORTED;
  pthread_mutex_lock(&fencing);
  fence_done = done;
  fence_data = done_data;
  unsigned number = ++fence_number;
  pthread_mutex_unlock(&fencing);
  char *text = hex_of(data, size);
  if (text == NULL) return PMIX_ERR_NOMEM;
  say("fence %u %s", number, text);
  free(text);
  free(data);
  return PMIX_SUCCESS;
}

static void release_bytes(void *bytes) { free(bytes); }

static void finish_fence(unsigned number, const char *hex) {
  pthread_mutex_lock(&fencing);
  pmix_modex_cbfunc_t done = number == fence_number ? fence_done : NULL;
  void *data = fence_data;
  if (done != NULL) fence_done = NULL;
  pthread_mutex_unlock(&fencing);
  if (done == NULL) return;
  size_t size;
  char *bytes = bytes_of(hex, &size);
  if (bytes == NULL) {
    done(PMIX_ERR_NOMEM, NULL, 0, data, NULL, NULL);
    return;
  }
  done(PMIX_SUCCESS, bytes, size, data, release_bytes, bytes);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *data) {
  (void)object;
  (void)done;
  (void)data;
  say("connected %u", proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *data) {
  (void)object;
  (void)done;
  (void)data;
  say("finalized %u", proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char text[], pmix_proc_t procs[],
                              size_t count, pmix_op_cbfunc_t done, void *data) {
  (void)object;
  (void)procs;
  (void)count;
  (void)done;
  (void)data;
  char line[256];
  snprintf(line, sizeof line, "%s", text == NULL ? "" : text);
  for (char *at = line; *at; at++)
    if (*at == '\n' || *at == '\r') *at = ' ';
  say("abort %u %d %s", proc->rank, status, line);
  return PMIX_OPERATION_SUCCEEDED;
}

/* A fence delivers all data to every node, so missing data does not exist. */
static pmix_status_t on_direct(const pmix_proc_t *proc, const pmix_info_t info[], size_t count, pmix_modex_cbfunc_t done,
                               void *data) {
  (void)proc;
  (void)info;
  (void)count;
  (void)done;
  (void)data;
  return PMIX_ERR_NOT_FOUND;
}

/* The rank receives the error from the library, and the user a message from the shepherd. */
static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t count, const pmix_app_t apps[],
                              size_t app_count, pmix_spawn_cbfunc_t done, void *data) {
  (void)info;
  (void)count;
  (void)apps;
  (void)app_count;
  (void)done;
  (void)data;
  say("spawn %u", proc->rank);
  return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_server_module_t host = {
    .client_connected = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_direct,
    .publish = on_publish,
    .lookup = on_lookup,
    .unpublish = on_unpublish,
    .spawn = on_spawn,
};

/* The library answers in another thread. */
struct answer {
  pthread_mutex_t lock;
  pthread_cond_t came;
  int there;
  pmix_status_t status;
};

static void take_answer(pmix_status_t status, void *data) {
  struct answer *answer = data;
  pthread_mutex_lock(&answer->lock);
  answer->status = status;
  answer->there = 1;
  pthread_cond_signal(&answer->came);
  pthread_mutex_unlock(&answer->lock);
}

static pmix_status_t await(pmix_status_t started, struct answer *answer) {
  if (started == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
  if (started != PMIX_SUCCESS) return started;
  pthread_mutex_lock(&answer->lock);
  while (!answer->there) pthread_cond_wait(&answer->came, &answer->lock);
  pthread_mutex_unlock(&answer->lock);
  return answer->status;
}

#define ANSWER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS}

static char *joined(char *text, size_t *length, size_t *room, const char *divider, const char *more) {
  size_t needed = *length + strlen(divider) + strlen(more) + 1;
  if (needed > *room) {
    *room = 2 * needed;
    text = realloc(text, *room);
    if (text == NULL) exit(1);
  }
  *length += (size_t)sprintf(text + *length, "%s%s", *length == 0 ? "" : divider, more);
  return text;
}

static void add(pmix_info_t *info, size_t *count, const char *key, void *value, pmix_data_type_t type) {
  if (*count >= MAX_INFO) exit(1);
  PMIX_INFO_LOAD(&info[*count], key, value, type);
  *count += 1;
}

static void describe(const char *folder) {
  char *names = NULL, *places = NULL, *local = NULL, number[32], word[64];
  size_t names_length = 0, names_room = 0, places_length = 0, places_room = 0, local_length = 0, local_room = 0;
  for (unsigned at = 0; at < node_count; at++) {
    names = joined(names, &names_length, &names_room, ",", nodes[at].name);
    char *ranks = NULL;
    size_t length = 0, room = 0;
    for (unsigned local_rank = 0; local_rank < nodes[at].count; local_rank++) {
      snprintf(number, sizeof number, "%u", nodes[at].first + local_rank);
      ranks = joined(ranks, &length, &room, ",", number);
      if (at == own_place) local = joined(local, &local_length, &local_room, ",", number);
    }
    places = joined(places, &places_length, &places_room, ";", ranks == NULL ? "" : ranks);
    free(ranks);
  }
  char *node_map, *proc_map;
  pmix_status_t status = PMIx_generate_regex(names, &node_map);
  if (status == PMIX_SUCCESS) status = PMIx_generate_ppn(places, &proc_map);
  if (status != PMIX_SUCCESS) fail("cannot describe the layout", status);

  const struct node *own = &nodes[own_place];
  pmix_info_t *info;
  size_t count = 0;
  PMIX_INFO_CREATE(info, MAX_INFO);
  uint32_t zero = 0, one = 1;
  pmix_rank_t leader = own->first;
  uint32_t place = own_place;
  add(info, &count, PMIX_UNIV_SIZE, &world_size, PMIX_UINT32);
  add(info, &count, PMIX_JOB_SIZE, &world_size, PMIX_UINT32);
  add(info, &count, PMIX_MAX_PROCS, &world_size, PMIX_UINT32);
  add(info, &count, PMIX_JOB_NUM_APPS, &one, PMIX_UINT32);
  add(info, &count, PMIX_APP_SIZE, &world_size, PMIX_UINT32);
  add(info, &count, PMIX_NODE_SIZE, (void *)&own->count, PMIX_UINT32);
  add(info, &count, PMIX_LOCAL_SIZE, (void *)&own->count, PMIX_UINT32);
  add(info, &count, PMIX_LOCAL_PEERS, local, PMIX_STRING);
  add(info, &count, PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
  add(info, &count, PMIX_NODE_MAP, node_map, PMIX_STRING);
  add(info, &count, PMIX_PROC_MAP, proc_map, PMIX_STRING);
  add(info, &count, PMIX_JOBID, nspace, PMIX_STRING);
  add(info, &count, PMIX_NODEID, &place, PMIX_UINT32);
  add(info, &count, PMIX_TMPDIR, (void *)folder, PMIX_STRING);
  add(info, &count, PMIX_NSDIR, (void *)folder, PMIX_STRING);

  /* Information about each rank. */
  size_t whole = count + world_size;
  pmix_info_t *all;
  PMIX_INFO_CREATE(all, whole);
  for (size_t at = 0; at < count; at++) PMIX_INFO_XFER(&all[at], &info[at]);
  for (unsigned at = 0; at < node_count; at++) {
    for (unsigned local_rank = 0; local_rank < nodes[at].count; local_rank++) {
      pmix_rank_t rank = nodes[at].first + local_rank;
      uint32_t its_place = at;
      uint16_t small = (uint16_t)local_rank;
      snprintf(word, sizeof word, "%s/%u", folder, rank);
      pmix_data_array_t *array;
      PMIX_DATA_ARRAY_CREATE(array, 9, PMIX_INFO);
      pmix_info_t *of_rank = array->array;
      PMIX_INFO_LOAD(&of_rank[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
      PMIX_INFO_LOAD(&of_rank[1], PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
      PMIX_INFO_LOAD(&of_rank[2], PMIX_APP_RANK, &rank, PMIX_PROC_RANK);
      PMIX_INFO_LOAD(&of_rank[3], PMIX_LOCAL_RANK, &small, PMIX_UINT16);
      PMIX_INFO_LOAD(&of_rank[4], PMIX_NODE_RANK, &small, PMIX_UINT16);
      PMIX_INFO_LOAD(&of_rank[5], PMIX_NODEID, &its_place, PMIX_UINT32);
      PMIX_INFO_LOAD(&of_rank[6], PMIX_HOSTNAME, (void *)nodes[at].name, PMIX_STRING);
      PMIX_INFO_LOAD(&of_rank[7], PMIX_APPNUM, &zero, PMIX_UINT32);
      PMIX_INFO_LOAD(&of_rank[8], PMIX_PROCDIR, word, PMIX_STRING);
      PMIX_LOAD_KEY(all[count].key, PMIX_PROC_DATA);
      all[count].value.type = PMIX_DATA_ARRAY;
      all[count].value.data.darray = array;
      count += 1;
    }
  }
  struct answer answer = ANSWER;
  status = await(PMIx_server_register_nspace(nspace, (int)own->count, all, count, take_answer, &answer), &answer);
  if (status != PMIX_SUCCESS) fail("cannot describe the launch", status);
  free(names);
  free(places);
  free(local);
}

static void admit(pmix_rank_t rank) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, nspace, rank);
  struct answer answer = ANSWER;
  pmix_status_t status =
      await(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, take_answer, &answer), &answer);
  if (status != PMIX_SUCCESS) fail("cannot admit a rank", status);
  char **variables = NULL;
  status = PMIx_server_setup_fork(&proc, &variables);
  if (status != PMIX_SUCCESS) fail("cannot prepare a rank", status);
  char *line = NULL;
  size_t length = 0, room = 0;
  for (char **at = variables; at != NULL && *at != NULL; at++) line = joined(line, &length, &room, "\t", *at);
  say("env %u\t%s", rank, line == NULL ? "" : line);
  free(line);
}

static int read_nodes(int count, char **words) {
  for (int at = 0; at < count; at++) {
    if (node_count >= MAX_NODES) return 0;
    char *name = strtok(words[at], ":"), *first = strtok(NULL, ":"), *own = strtok(NULL, ":");
    if (own == NULL) return 0;
    nodes[node_count++] = (struct node){name, (unsigned)atoi(first), (unsigned)atoi(own)};
    world_size += (unsigned)atoi(own);
  }
  return own_place < node_count;
}

/* The folder is this user's, and so is this process: nobody else's files can be reached. */
static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *at) {
  (void)found, (void)kind, (void)at;
  remove(path);
  return 0;
}

int main(int count, char **words) {
  if (count < 5) return 2;
  own_place = (unsigned)atoi(words[3]);
  if (!read_nodes(count - 4, words + 4)) return 2;
  PMIX_LOAD_NSPACE(nspace, words[1]);
  const char *folder = words[2];
  if (mkdir(folder, 0700) != 0) fail("cannot make a folder", PMIX_ERROR);
  /* The library reads settings from HOME and crashes without one. */
  if (getpwuid(getuid()) == NULL) setenv("HOME", folder, 0);
  pmix_info_t settings[3];
  pmix_rank_t own_rank = own_place;
  char own_name[PMIX_MAX_NSLEN + 1];
  snprintf(own_name, sizeof own_name, "%.200s-server", words[1]);
  PMIX_INFO_LOAD(&settings[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
  PMIX_INFO_LOAD(&settings[1], PMIX_SERVER_NSPACE, own_name, PMIX_STRING);
  PMIX_INFO_LOAD(&settings[2], PMIX_SERVER_RANK, &own_rank, PMIX_PROC_RANK);
  pmix_status_t status = PMIx_server_init(&host, settings, 3);
  if (status != PMIX_SUCCESS) fail("cannot serve PMIx", status);
  describe(folder);
  for (unsigned local = 0; local < nodes[own_place].count; local++) admit(nodes[own_place].first + local);
  say("ready");

  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    unsigned number;
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "fence %u %n", &number, &at) == 1 && at > 0) finish_fence(number, line + at);
    if (strncmp(line, "named ", 6) == 0) finish_names(line + 6);
  }
  /* The shepherd has closed the launch. An orderly shutdown of the library could only hang. */
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  _exit(0);
}
