// MPICH before 4.2 over UCX can wait for ever in MPI_Finalize: one rank sits in a plain read from its
// PMI socket while another needs it to answer over the network. The cure is a small library,
// loaded into ranks, that lets UCX work while such a read waits. It is compiled on the node, once,
// where there is a compiler; elsewhere ranks go without, as they do under other launchers.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Null: there is no compiler here, or it would not have it. */
export async function buildFinalizeShim(dataDir: string): Promise<string | null> {
  const digest = createHash("sha256").update(SOURCE).digest("hex").slice(0, 8);
  const folder = librariesFolder(dataDir);
  const library = join(folder, `mpi-finalize-${digest}.so`);
  if (await exists(library)) return library;
  try {
    await mkdir(folder, { recursive: true });
    const source = join(folder, `mpi-finalize-${process.pid}.c`);
    const made = join(folder, `mpi-finalize-${process.pid}.so`);
    await writeFile(source, SOURCE);
    const compiled = await run("cc", ["-O2", "-shared", "-fPIC", "-o", made, source, "-ldl"]);
    await rm(source, { force: true });
    if (!compiled) return null;
    await rename(made, library);
    return library;
  } catch {
    return null;
  }
}

/** Seen in containers as well. */
export const librariesFolder = (dataDir: string): string => join(dataDir, "libraries");

const COMPILE_TIMEOUT_MS = 30_000;

function run(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", timeout: COMPILE_TIMEOUT_MS });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Remembers the workers that UCX makes, and drives them while a read from PMI_FD has nothing yet. */
const SOURCE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_WORKERS 64
#define PAUSE_MS 1

typedef ssize_t (*read_function)(int, void *, size_t);
typedef int (*create_function)(void *, const void *, void **);
typedef void (*destroy_function)(void *);
typedef unsigned (*progress_function)(void *);

static void *workers[MOST_WORKERS];
static int worker_count;

int ucp_worker_create(void *context, const void *parameters, void **worker) {
  create_function create = (create_function)dlsym(RTLD_NEXT, "ucp_worker_create");
  int status = create(context, parameters, worker);
  if (status == 0 && worker_count < MOST_WORKERS) workers[worker_count++] = *worker;
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
`;
