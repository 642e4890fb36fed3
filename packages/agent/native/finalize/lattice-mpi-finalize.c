// Loaded into ranks (LD_PRELOAD): records the workers of UCX and progresses them while a read from PMI_FD blocks, so that
// MPICH before 4.2 does not hang in MPI_Finalize.
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORKERS 64
#define PAUSE_MS 1

typedef ssize_t (*read_function)(int, void *, size_t);
typedef int (*create_function)(void *, const void *, void **);
typedef void (*destroy_function)(void *);
typedef unsigned (*progress_function)(void *);

static void *workers[MAX_WORKERS];
static int worker_count;

int ucp_worker_create(void *context, const void *parameters, void **worker) {
  create_function create = (create_function)dlsym(RTLD_NEXT, "ucp_worker_create");
  int status = create(context, parameters, worker);
  if (status == 0 && worker_count < MAX_WORKERS) workers[worker_count++] = *worker;
  return status;
}

void ucp_worker_destroy(void *worker) {
  destroy_function destroy = (destroy_function)dlsym(RTLD_NEXT, "ucp_worker_destroy");
  for (int at = 0; at < worker_count; at++)
    if (workers[at] == worker) workers[at] = workers[--worker_count];
  destroy(worker);
}

static int pmi_descriptor(void) {
  static int descriptor = -2;
  if (descriptor == -2) {
    const char *text = getenv("PMI_FD");
    descriptor = text ? atoi(text) : -1;
  }
  return descriptor;
}

ssize_t read(int descriptor, void *buffer, size_t size) {
  static read_function next;
  if (!next) next = (read_function)dlsym(RTLD_NEXT, "read");
  if (worker_count > 0 && descriptor == pmi_descriptor()) {
    progress_function progress = (progress_function)dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!progress) progress = (progress_function)dlsym(RTLD_DEFAULT, "ucp_worker_progress");
    struct pollfd ready = {descriptor, POLLIN, 0};
    while (progress && poll(&ready, 1, 0) == 0) {
      unsigned moved = 0;
      for (int at = 0; at < worker_count; at++) moved += progress(workers[at]);
      if (!moved && poll(&ready, 1, PAUSE_MS) != 0) break;
    }
  }
  return next(descriptor, buffer, size);
}
