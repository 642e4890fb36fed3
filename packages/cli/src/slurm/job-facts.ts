// Values of some columns that are not in a job's record: the cores of its nodes and its score in the queue. Requested
// from the server only when a column shows them.

import type { Allocation, Node } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { SlurmContext } from "./context.ts";
import type { FormatPart } from "./format.ts";
import type { JobFacts } from "./job-fields.ts";
import type { SlurmJob } from "./jobs.ts";

/** An explanation inspects the whole queue, so only the first jobs are explained. */
const MAX_EXPLAINED = 100;

const CORES = new Set(["CPUS", "TRES_ALLOC"]);

export async function factsFor(
  context: SlurmContext,
  parts: readonly FormatPart<SlurmJob>[],
  jobs: readonly SlurmJob[],
): Promise<JobFacts> {
  const shows = (matches: (header: string) => boolean): boolean =>
    parts.some(({ field }) => field !== null && matches(field.header));
  const nodes = shows((header) => CORES.has(header)) ? await nodesById(context) : new Map<string, Node>();
  const scores = shows((header) => header === "PRIORITY") ? await scoresOf(context, jobs) : new Map<string, number>();
  return {
    cores: ({ allocation }) => coresOf(allocation, nodes),
    priority: ({ allocation }) => scores.get(allocation.id) ?? placedScore(allocation),
  };
}

export async function nodesById({ client }: SlurmContext): Promise<ReadonlyMap<string, Node>> {
  const found = new Map<string, Node>();
  for await (const node of client.nodes.listAll()) found.set(node.id, node);
  return found;
}

/** Returns null when the job has no nodes, or its nodes left the cluster. */
export function coresOf({ id, nodes = [] }: Allocation, known: ReadonlyMap<string, Node>): number | null {
  let sum = 0;
  for (const name of nodes) {
    const node = known.get(name);
    const own = node?.claims?.find((claim) => claim.allocation_id === id);
    sum += own?.cpu_cores || (node?.capabilities?.cpu_cores ?? 0);
  }
  return sum === 0 ? null : sum;
}

const placedScore = ({ scores }: Allocation): number | null => (scores === undefined ? null : totalOf(scores));

export const totalOf = (scores: Readonly<Record<string, number>>): number =>
  scores.total ?? Object.values(scores).reduce((sum, value) => sum + value, 0);

async function scoresOf({ client }: SlurmContext, jobs: readonly SlurmJob[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const waiting = jobs.filter(({ allocation: { state, group } }) => state === "pending" && group === undefined);
  for (const { allocation } of waiting.slice(0, MAX_EXPLAINED)) {
    const explanation = await client.explain(allocation.id).catch(undefinedIfNotFound);
    if (explanation?.queue?.scores !== undefined) found.set(allocation.id, totalOf(explanation.queue.scores));
  }
  return found;
}

/** Ignores a job that ended after it was listed. */
function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== "unknown_allocation") throw error;
}
