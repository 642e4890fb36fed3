// The thresholds of each regression trace, and whether a replay meets them. Where the testing chapter names a figure
// that a replay cannot measure (cycle latency, checkpoint success), a related figure of the scheduler takes its place;
// benches and acceptance tests measure the original.

import type { Outcomes } from "../policy/base/policy.ts";
import { percentile } from "../result/statistics.ts";
import type { Summary } from "../result/summary.ts";
import type { Trace } from "../trace/trace.ts";
import { percent, time } from "../words/amounts.ts";
import type { RegressionName } from "./traces.ts";

export interface Mark {
  readonly name: string;
  readonly value: number;
  readonly mark: string;
  readonly pass: boolean;
  readonly shown: string;
}

interface Replayed {
  readonly trace: Trace;
  readonly outcomes: Outcomes;
  readonly summary: Summary;
}

export function marksOf(name: RegressionName, replayed: Replayed): readonly Mark[] {
  const { summary, trace, outcomes } = replayed;
  switch (name) {
    case "steady-state":
      return [above("utilization while work arrives", busyWhileArriving(replayed), 0.85)];
    case "burst":
      return [within("p99 wait", summary.wait.p99, 4 * 3600)];
    case "unfair":
      return [below("fair share deviation", summary.shareDeviation, 0.1)];
    case "sensitive-claim":
      return [within("longest wait of a sensitive claim", Math.max(0, ...waitsOf(replayed, isSensitive)), 0)];
    case "preemption-heavy":
      return [
        {
          name: "times work was stopped",
          value: outcomes.preemptions,
          mark: "some",
          pass: outcomes.preemptions > 0,
          shown: String(outcomes.preemptions),
        },
        {
          name: "times urgent work was stopped",
          value: urgentStops(trace, outcomes),
          mark: "none",
          pass: urgentStops(trace, outcomes) === 0,
          shown: String(urgentStops(trace, outcomes)),
        },
        below("work lost to stops", lostWork(trace, outcomes), MAX_LOST),
        {
          name: "most times one was stopped",
          value: mostStops(outcomes),
          mark: `at most ${MAX_STOPS}`,
          pass: mostStops(outcomes) <= MAX_STOPS,
          shown: String(mostStops(outcomes)),
        },
        within("p95 wait of class 8", p95(waitsOf(replayed, isUrgent)), 300),
      ];
    case "empty-to-full":
      return [within("ramp-up until 95 % of the nodes work", rampUp(replayed), 120)];
  }
}

/** Without checkpoints a preempted attempt loses its work: at most this part of all work. */
const MAX_LOST = 0.15;
/** A job that is preempted again and again makes no progress: the scheduler's limit for higher classes. */
const MAX_STOPS = 5;

function above(name: string, value: number, mark: number): Mark {
  return { name, value, mark: `> ${percent(mark)}`, pass: value > mark, shown: percent(value) };
}

function below(name: string, value: number, mark: number): Mark {
  return { name, value, mark: `< ${percent(mark)}`, pass: value < mark, shown: percent(value) };
}

function within(name: string, value: number, mark: number): Mark {
  return { name, value, mark: mark === 0 ? "none" : `< ${time(mark)}`, pass: value <= mark, shown: time(value) };
}

/** The first tenth fills the machine, and the time after the last submission empties it: neither is steady. */
function busyWhileArriving({ trace, summary }: Replayed): number {
  const { begin, stepSeconds, used } = summary.timeline;
  const last = trace.submit[trace.count - 1] ?? begin;
  const steps = Math.floor((last - begin) / stepSeconds);
  const steady = used.slice(Math.ceil(steps / 10), steps);
  return steady.reduce((sum, value) => sum + value, 0) / Math.max(1, steady.length);
}

function waitsOf({ trace, outcomes }: Replayed, of: (trace: Trace, row: number) => boolean): number[] {
  const waits: number[] = [];
  for (let row = 0; row < trace.count; row += 1) {
    if (of(trace, row)) waits.push((outcomes.start[row] as number) - (trace.submit[row] as number));
  }
  return waits;
}

const isSensitive = (trace: Trace, row: number): boolean => trace.requests?.[row]?.vcluster === "sensitive";

const isUrgent = (trace: Trace, row: number): boolean => trace.priority[row] === 8;

const p95 = (waits: readonly number[]): number => percentile(Float64Array.from(waits).sort(), 95);

const urgentStops = (trace: Trace, { stops }: Outcomes): number =>
  stops.reduce((sum, times, row) => sum + (isUrgent(trace, row) ? times : 0), 0);

/** The work of preempted attempts as a part of all work, the lost work included. */
function lostWork({ count, size, run }: Trace, { lost }: Outcomes): number {
  let vain = 0;
  let done = 0;
  for (let row = 0; row < count; row += 1) {
    vain += (lost[row] as number) * (size[row] as number);
    done += (run[row] as number) * (size[row] as number);
  }
  return vain === 0 ? 0 : vain / (vain + done);
}

const mostStops = ({ stops }: Outcomes): number => stops.reduce((most, times) => Math.max(most, times), 0);

/** From the first submission until this many nodes are busy at once; Infinity when they never are. */
function rampUp({ trace, outcomes }: Replayed): number {
  const starts = Array.from({ length: trace.count }, (_, row) => row).sort(
    (a, b) => (outcomes.start[a] as number) - (outcomes.start[b] as number) || a - b,
  );
  let working = 0;
  for (const row of starts) {
    working += trace.size[row] as number;
    if (working >= trace.nodes * 0.95) return (outcomes.start[row] as number) - (trace.submit[0] as number);
  }
  return Number.POSITIVE_INFINITY;
}
