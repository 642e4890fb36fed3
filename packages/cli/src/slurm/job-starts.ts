// When jobs that wait are expected to start, for `squeue --start`: few ask for it, so it is loaded then.

import { ProblemError } from "@lattice/wire";
import type { Desk } from "./desk.ts";
import type { Job } from "./jobs.ts";

/** Each takes a look at the whole queue, so only the first ones are asked about; the others say N/A. */
const MOST_STARTS = 100;

/** Those that wait, with the server's estimate of when they start. */
export async function withStarts({ client }: Desk, jobs: readonly Job[]): Promise<readonly Job[]> {
  const waiting = jobs.filter(({ allocation }) => allocation.state === "pending");
  const unknown = waiting.filter(({ allocation: { estimated_start, group } }) => !estimated_start && !group);
  const starts = new Map<string, string>();
  for (const { id, allocation } of unknown.slice(0, MOST_STARTS)) {
    const start = await client.explain(allocation.id).then(({ estimated_start: at }) => at, ifGone);
    if (start !== undefined) starts.set(id, start);
  }
  return waiting.map((job) => {
    const start = starts.get(job.id);
    return start === undefined ? job : { ...job, allocation: { ...job.allocation, estimated_start: start } };
  });
}

/** It ended since it was listed. */
function ifGone(error: unknown): undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== "unknown_allocation") throw error;
}
