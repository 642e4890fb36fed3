// What an explanation with all its trials costs the leader, for allocations all over a long queue on a large machine.
import { type Bench, below, plain, quantile } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

const WANTED = { nodes: 10_000, pending: 1_000, warmUp: 40, questions: 400 };
const TARGET_MS = 50;

interface Measured {
  readonly whyMs: readonly number[];
  readonly workMs: readonly number[];
  readonly told: string;
}

export const why: Bench = async (say) => {
  say(`${WANTED.nodes} nodes, ${WANTED.pending} pending`);
  const { whyMs, workMs, told } = await measureScheduler<Measured>("why", WANTED);
  say(told);
  return [
    plain("why_p50", quantile(whyMs, 0.5), "ms"),
    plain("why_p90", quantile(whyMs, 0.9), "ms"),
    below("why_p99", quantile(whyMs, 0.99), "ms", TARGET_MS),
    plain("why_processor_p99", quantile(workMs, 0.99), "ms"),
    plain("why_max", quantile(whyMs, 1), "ms"),
  ];
};
