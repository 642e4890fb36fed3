// Small MPI programs, compiled on demand with a real MPI library into a test's directory.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type MpiProgram = keyof typeof BODIES;
export type MpiLibrary = "mpich" | "openmpi";

/** Returns the path of the program. */
export function compileMpi(folder: string, program: MpiProgram, library: MpiLibrary = "mpich"): string {
  const path = join(folder, `${library}-${program}`);
  const source = `#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words) {
  int rank, size, sum = 0, wait = count > 1 ? atoi(words[1]) : 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  (void)sum; (void)wait;
${BODIES[program]}
  MPI_Finalize();
  return 0;
}
`;
  writeFileSync(`${path}.c`, source);
  execFileSync(`mpicc.${library}`, ["-O1", "-o", path, `${path}.c`]);
  return path;
}

const BODIES = {
  hello: `  printf("rank %d of %d\\n", rank, size);`,
  /** Sends large messages between neighbours and sums over all ranks. */
  allreduce: `  static double sent[65536], got[65536];
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int at = 0; at < 65536; at++) sent[at] = rank;
  MPI_Sendrecv(sent, 65536, MPI_DOUBLE, next, 0, got, 65536, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d: sum %d, from %d: %d\\n", rank, size, sum, before, (int)got[65535]);`,
  /** The first rank publishes a port; the last looks it up, and a port that does not exist. */
  names: `  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank == 0) printf("published: %d\\n", MPI_Publish_name("ocean", MPI_INFO_NULL, "tag#0$of_rank_0$"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    int found = MPI_Lookup_name("ocean", MPI_INFO_NULL, port);
    printf("found: %d %s\\n", found, port);
    printf("missing: %d\\n", MPI_Lookup_name("missing", MPI_INFO_NULL, port) != MPI_SUCCESS);
  }
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("unpublished: %d\\n", MPI_Unpublish_name("ocean", MPI_INFO_NULL, "tag#0$of_rank_0$"));`,
  /** Spawns more ranks. */
  spawn: `  MPI_Comm more;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank == 0) {
    int spawned = MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &more, MPI_ERRCODES_IGNORE);
    printf("spawned: %d\\n", spawned == MPI_SUCCESS);
  }`,
  /** Rank 1 aborts while the others wait for it. */
  abort: `  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Barrier(MPI_COMM_WORLD);`,
  /** Rank 2 exits without finalizing. No rank talks to it, or the library would end them with its own code. */
  leave: `  MPI_Barrier(MPI_COMM_WORLD);
  usleep(200000);
  if (rank == 2) exit(9);
  for (;;) pause();`,
  /** Works in rounds until a file exists; all ranks see it in the same round. */
  until: `  if (rank == 0) { printf("working\\n"); fflush(stdout); }
  for (int there = 0; !there;) {
    usleep(100000);
    there = access(words[1], F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  printf("rank %d of %d done\\n", rank, size);`,
  /** Works in rounds for a number of seconds, so that a test can disturb it. */
  rounds: `  for (int round = 0; round < wait * 10; round++) {
    if (rank == 0 && round == 5) { printf("working\\n"); fflush(stdout); }
    usleep(100000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d done\\n", rank);`,
} as const;
