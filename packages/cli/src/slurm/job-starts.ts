// Estimated start times for `squeue --start`. Rarely used, so it is loaded on demand.

import { ProblemError } from "@lattice/wire";
import type { SlurmContext } from "./context.ts";
import type { SlurmJob } from "./jobs.ts";

/** An explanation inspects the whole queue, so only the first jobs get an estimate; the others show N/A. */
const MAX_STARTS = 100;

/** Returns the pending jobs with the server's estimates. */
export async function estimateStarts(
  { client }: SlurmContext,
  jobs: readonly SlurmJob[],
): Promise<readonly SlurmJob[]> {
  const waiting = jobs.filter(({ allocation }) => allocation.state === "pending");
  const unknown = waiting.filter(({ allocation: { estimated_start, group } }) => !estimated_start && !group);
  const starts = new Map<string, string>();
  for (const { id, allocation } of unknown.slice(0, MAX_STARTS)) {
    const start = await client.explain(allocation.id).then(({ estimated_start: at }) => at, undefinedIfNotFound);
    if (start !== undefined) starts.set(id, start);
  }
  return waiting.map((job) => {
    const start = starts.get(job.id);
    return start === undefined ? job : { ...job, allocation: { ...job.allocation, estimated_start: start } };
  });
}

/** Ignores a job that ended after it was listed. */
function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== "unknown_allocation") throw error;
}
