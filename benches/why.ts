// The cost of an explanation with all trials in the leader, for allocations across a long queue on a large cluster.
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

const INPUT = { nodes: 10_000, pending: 1_000, warmUp: 40, questions: 400 };
const TARGET_MS = 50;

interface Measured {
  readonly whyMs: readonly number[];
  readonly workMs: readonly number[];
  readonly summary: string;
}

export const why: Bench = async (log) => {
  log(`${INPUT.nodes} nodes, ${INPUT.pending} pending`);
  const { whyMs, workMs, summary } = await measureScheduler<Measured>("why", INPUT);
  log(summary);
  return [
    withoutTarget("why_p50", quantile(whyMs, 0.5), "ms"),
    withoutTarget("why_p90", quantile(whyMs, 0.9), "ms"),
    below("why_p99", quantile(whyMs, 0.99), "ms", TARGET_MS),
    withoutTarget("why_cpu_p99", quantile(workMs, 0.99), "ms"),
    withoutTarget("why_max", quantile(whyMs, 1), "ms"),
  ];
};
