// The resources that attempts have used, by attempt and node, as the agents measured them. A value that a node could
// not measure is missing, never 0. The newest attempts and the first nodes of each are kept; the totals cover all
// nodes that have reported.

import type { Attempt, NodeId } from "../../base/ids.ts";

/** How the values of several nodes make the value of the attempt. */
export const USAGE_FIELDS = {
  /** CPU time of all processes, children included. */
  processorMs: "sum",
  /** The most memory in use at one time on one node. */
  peakMemoryBytes: "max",
  readBytes: "sum",
  writtenBytes: "sum",
  receivedBytes: "sum",
  sentBytes: "sum",
  /** GPU time in use: one GPU at 50 % for 2 s gives 1000. */
  gpuBusyMs: "sum",
  /** The most memory in use on one GPU. */
  gpuPeakMemoryBytes: "max",
  /** Energy of its GPUs. */
  gpuEnergyJoules: "sum",
} as const satisfies Record<string, "sum" | "max">;

export type UsageField = keyof typeof USAGE_FIELDS;

/** Non-negative integers. */
export type UsageValues = { readonly [Field in UsageField]?: number };

interface NodeUsage extends UsageValues {
  readonly node: NodeId;
}

export interface AttemptUsage extends UsageValues {
  readonly attempt: Attempt;
  /** Number of nodes that have reported. */
  readonly nodeCount: number;
  /** The node with the peak memory. */
  readonly peakMemoryNode?: NodeId;
  /** The first few nodes. */
  readonly nodes: readonly NodeUsage[];
}

/** Attempts per allocation; services add an attempt for each node that joins. */
const MAX_USAGE_ATTEMPTS = 32;
/** Nodes named per attempt; the totals cover the others. */
const MAX_USAGE_NODES = 16;

interface UsedRecord {
  readonly usage?: readonly AttemptUsage[];
}

interface ReportedUsage {
  readonly node: NodeId;
  readonly attempt: Attempt;
  readonly usage?: UsageValues;
}

/** Returns the record with one more report, or the same record for a report without usage. */
export function withUsage<Kept extends UsedRecord>(record: Kept, report: ReportedUsage): Kept {
  const { usage } = report;
  if (usage === undefined) return record;
  const known = record.usage ?? [];
  const at = known.findIndex(({ attempt }) => attempt === report.attempt);
  const before = known[at] ?? { attempt: report.attempt, nodeCount: 0, nodes: [] };
  const after = addNode(before, { ...usage, node: report.node });
  const all = at < 0 ? [...known, after] : known.with(at, after);
  return { ...record, usage: all.slice(-MAX_USAGE_ATTEMPTS) };
}

function addNode(before: AttemptUsage, { node, ...values }: NodeUsage): AttemptUsage {
  const isPeak = (values.peakMemoryBytes ?? -1) > (before.peakMemoryBytes ?? -1);
  return {
    ...before,
    ...addUsage(before, values),
    nodeCount: before.nodeCount + 1,
    ...(isPeak ? { peakMemoryNode: node } : {}),
    nodes: before.nodes.length < MAX_USAGE_NODES ? [...before.nodes, { ...values, node }] : before.nodes,
  };
}

/** Returns the total of two usages; a field that neither has stays missing. */
function addUsage(a: UsageValues, b: UsageValues): UsageValues {
  const total: { [Field in UsageField]?: number } = {};
  for (const field of Object.keys(USAGE_FIELDS) as UsageField[]) {
    const [left, right] = [a[field], b[field]];
    if (left === undefined && right === undefined) continue;
    const merged = USAGE_FIELDS[field] === "max" ? Math.max(left ?? 0, right ?? 0) : (left ?? 0) + (right ?? 0);
    total[field] = Math.min(Number.MAX_SAFE_INTEGER, merged);
  }
  return total;
}

/** Returns the total over all attempts of a record. */
export const totalUsage = ({ usage = [] }: UsedRecord): UsageValues =>
  usage.reduce<UsageValues>((sum, attempt) => addUsage(sum, attempt), {});
