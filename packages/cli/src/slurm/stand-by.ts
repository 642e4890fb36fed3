// What the other nodes of a batch job do while its script runs on the first: nothing, until it has ended.
// A node whose part has ended takes no more tasks, so they must stay for srun.

import { sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Desk } from "./desk.ts";

const SHORTEST_PAUSE_MS = 500;
/** All nodes of a job together ask about so often in a second. */
const ASKS_PER_SECOND = 50;
const ENDED = new Set<string | undefined>(["completed", "failed"]);

/** Answers 0: how the job ends is the first node's to say. */
export async function standBy({ client, env }: Desk, id: string): Promise<number> {
  const nodes = Number(env.LATTICE_NNODES ?? 1);
  const pause = Math.max(SHORTEST_PAUSE_MS, (nodes * 1000) / ASKS_PER_SECOND);
  for (;;) {
    try {
      const job = await client.get(id);
      const isThis = `${job.attempt ?? env.LATTICE_ATTEMPT}` === env.LATTICE_ATTEMPT;
      if (!isThis || job.ended_at !== undefined || ENDED.has(job.progress?.[0]?.state)) return 0;
    } catch (error) {
      // A server that is away comes back; the job itself goes on without it.
      if (error instanceof ProblemError && error.problem.code === "unknown_allocation") return 0;
      if (!(error instanceof ProblemError) || !error.problem.retryable) throw error;
    }
    await sleep(pause, undefined);
  }
}
