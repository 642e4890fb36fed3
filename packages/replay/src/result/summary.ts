// The figures of a replay. Waits and slowdowns cover all jobs that ran. Utilisation is work done over the whole
// machine, from the first submission to the last end.

import type { Outcomes } from "../policy/base/policy.ts";
import { type Dropped, droppedCount, type Trace } from "../trace/trace.ts";
import { byTenant, byUser, type Figures, figuresOf } from "./figures.ts";
import { type Shares, sharesOf } from "./shares.ts";
import { boundedSlowdown } from "./slowdown.ts";
import { jain, mean, percentile } from "./statistics.ts";
import { spanOf, type Timeline, timelineOf } from "./timeline.ts";
import { type WaitBin, waitBins } from "./waits.ts";

interface Waits {
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface Summary {
  /** The name of the results: the output folder, else the policy. */
  readonly name: string;
  readonly policy: string;
  readonly perfect: boolean;
  readonly nodes: number;
  readonly jobs: number;
  readonly dropped: number;
  readonly droppedBecause: Dropped;
  readonly makespanSeconds: number;
  /** Part of the machine that was busy, 0 to 1. */
  readonly utilisation: number;
  /** GPUs of the whole machine; 0 without GPUs. */
  readonly gpus: number;
  readonly wait: Waits;
  readonly meanBoundedSlowdown: number;
  /** Over the users' mean bounded slowdowns. */
  readonly jainSlowdown: number;
  readonly jainShare: number;
  readonly shareDeviation: number;
  readonly backfilled: number;
  readonly preemptions: number;
  /** Jobs that were shown a reserved start. */
  readonly reserved: number;
  /** Jobs that started later than a reserved start they were shown. */
  readonly late: number;
  readonly timeline: Timeline;
  readonly waits: readonly WaitBin[];
  /** Users with the most work. */
  readonly users: readonly Figures[];
  /** Tenants with the most work, with their received and due parts under contention. */
  readonly tenants: readonly (Figures & { readonly got: number; readonly due: number })[];
}

interface Run {
  readonly name: string;
  readonly policy: string;
  readonly perfect: boolean;
  readonly gpus: number;
}

/** As many as a table or a chart can show. */
const MAX_SHOWN = 20;

export function summarise(run: Run, trace: Trace, outcomes: Outcomes): Summary {
  const waited = new Float64Array(trace.count);
  const slowdown = new Float64Array(trace.count);
  let work = 0;
  let backfilled = 0;
  for (let row = 0; row < trace.count; row += 1) {
    const runs = trace.run[row] as number;
    const waits = (outcomes.start[row] as number) - (trace.submit[row] as number);
    waited[row] = waits;
    slowdown[row] = boundedSlowdown(waits, runs);
    work += runs * (trace.size[row] as number);
    backfilled += outcomes.backfilled[row] as number;
  }
  waited.sort();
  const span = spanOf(trace, outcomes);
  const makespanSeconds = span.end - span.begin;
  const shares = sharesOf(trace, outcomes, span);
  const users = figuresOf(trace, outcomes, byUser(trace));
  const tenants = figuresOf(trace, outcomes, byTenant(trace)).slice(0, MAX_SHOWN);
  return {
    ...run,
    nodes: trace.nodes,
    jobs: trace.count,
    dropped: droppedCount(trace.dropped),
    droppedBecause: trace.dropped,
    makespanSeconds,
    utilisation: makespanSeconds > 0 ? work / (makespanSeconds * trace.nodes) : 0,
    wait: waitsOf(waited),
    meanBoundedSlowdown: mean(slowdown),
    jainSlowdown: jain(users.map((user) => user.meanBoundedSlowdown)),
    jainShare: shares.jain,
    shareDeviation: shares.maxDeviation,
    backfilled,
    preemptions: outcomes.preemptions,
    reserved: outcomes.reserved,
    late: outcomes.late,
    timeline: timelineOf(trace, outcomes, span),
    waits: waitBins(waited),
    users: users.slice(0, MAX_SHOWN),
    tenants: tenants.map((figures) => ({ ...figures, ...shareOf(trace, shares, figures.name) })),
  };
}

const waitsOf = (sorted: Float64Array): Waits => ({
  mean: mean(sorted),
  median: percentile(sorted, 50),
  p95: percentile(sorted, 95),
  p99: percentile(sorted, 99),
  max: sorted[sorted.length - 1] ?? 0,
});

function shareOf({ tenants }: Trace, { got, due }: Shares, name: string) {
  const tenant = tenants.indexOf(name);
  return { got: got[tenant] ?? 0, due: due[tenant] ?? 0 };
}
