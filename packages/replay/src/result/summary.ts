// The figures of a replay. Waits and slowdowns are over all jobs that ran; the bound of the slowdown
// keeps very short jobs from dominating its mean. Utilisation is work done over the whole machine, from
// the first submission to the last end.

import type { Outcome } from "../policy/policy.ts";
import { type Dropped, droppedCount, type Trace } from "../trace/trace.ts";

/** The usual bound, in seconds. */
export const SLOWDOWN_BOUND = 10;

export interface Summary {
  readonly policy: string;
  readonly nodes: number;
  readonly jobs: number;
  readonly dropped: number;
  readonly droppedBecause: Dropped;
  readonly makespanSeconds: number;
  /** Part of the machine that worked, 0 to 1. */
  readonly utilisation: number;
  readonly wait: { readonly mean: number; readonly median: number; readonly p95: number; readonly p99: number };
  readonly meanBoundedSlowdown: number;
  readonly backfilled: number;
}

export function summarise(policy: string, trace: Trace, outcomes: readonly Outcome[]): Summary {
  const waits = Float64Array.from(outcomes, ({ job, start }) => start - job.submit).sort();
  const { begin, end } = span(outcomes);
  const work = outcomes.reduce((sum, { job }) => sum + job.nodes * job.run, 0);
  const makespan = end - begin;
  return {
    policy,
    nodes: trace.nodes,
    jobs: outcomes.length,
    dropped: droppedCount(trace.dropped),
    droppedBecause: trace.dropped,
    makespanSeconds: makespan,
    utilisation: makespan > 0 ? work / (makespan * trace.nodes) : 0,
    wait: { mean: mean(waits), median: percentile(waits, 50), p95: percentile(waits, 95), p99: percentile(waits, 99) },
    meanBoundedSlowdown: mean(Float64Array.from(outcomes, boundedSlowdown)),
    backfilled: outcomes.filter((outcome) => outcome.backfilled).length,
  };
}

export function boundedSlowdown({ job, start }: Outcome): number {
  return Math.max(1, (start - job.submit + job.run) / Math.max(job.run, SLOWDOWN_BOUND));
}

function span(outcomes: readonly Outcome[]): { readonly begin: number; readonly end: number } {
  let begin = outcomes[0]?.job.submit ?? 0;
  let end = begin;
  for (const outcome of outcomes) {
    begin = Math.min(begin, outcome.job.submit);
    end = Math.max(end, outcome.end);
  }
  return { begin, end };
}

const mean = (values: Float64Array): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Nearest rank: the least value that so many per cent do not exceed. */
const percentile = (sorted: Float64Array, percent: number): number =>
  sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
