// Who got how much of the machine while it was short. At evenly spaced instants everyone's running and
// waiting nodes are compared with their fair part: the machine divided equally, where nobody is given
// more than they ask for and the rest is divided again. Over a whole replay everyone gets all their work
// done, so that only shares in time of want tell policies apart.

import type { Outcomes } from "../policy/policy.ts";
import type { Trace } from "../trace/trace.ts";
import { jain } from "./statistics.ts";
import type { Span } from "./timeline.ts";

export interface Shares {
  /** The largest gap between what a user got and was due, as a part of what all were due. */
  readonly maxDeviation: number;
  /** Jain's index over what each user got of their due. */
  readonly jain: number;
  /** Per user: part of what all got, and of what all were due, in time of want. */
  readonly got: Float64Array;
  readonly due: Float64Array;
}

const SAMPLES = 400;
/** With very many users there are fewer samples: users times samples stay below this. */
const MAX_CELLS = 8_000_000;

export function sharesOf(trace: Trace, outcomes: Outcomes, span: Span): Shares {
  const users = trace.users.length;
  const samples = Math.max(1, Math.min(SAMPLES, Math.floor(MAX_CELLS / Math.max(1, users))));
  const step = (span.end - span.begin) / samples;
  const running = new Int32Array(users * (samples + 1));
  const waiting = new Int32Array(users * (samples + 1));
  // The first sample at or after a time; samples lie in the middle of their steps.
  const sampleAt = (time: number): number =>
    Math.max(0, Math.min(samples, Math.ceil((time - span.begin) / step - 0.5)));
  for (let row = 0; row < trace.count && step > 0; row += 1) {
    const user = (trace.user[row] as number) * (samples + 1);
    const size = trace.size[row] as number;
    const submitted = sampleAt(trace.submit[row] as number);
    const started = sampleAt(outcomes.start[row] as number);
    const ended = sampleAt(outcomes.end[row] as number);
    change(waiting, user + submitted, size);
    change(waiting, user + started, -size);
    change(running, user + started, size);
    change(running, user + ended, -size);
  }
  const got = new Float64Array(users);
  const due = new Float64Array(users);
  const now = { runs: new Float64Array(users), wants: new Float64Array(users) };
  for (let sample = 0; sample < samples; sample += 1) {
    let queued = 0;
    for (let user = 0; user < users; user += 1) {
      const cell = user * (samples + 1) + sample;
      const runs = (now.runs[user] as number) + (running[cell] as number);
      const waits = (now.wants[user] as number) - (now.runs[user] as number) + (waiting[cell] as number);
      now.runs[user] = runs;
      now.wants[user] = runs + waits;
      queued += waits;
    }
    if (queued > 0) addSample(now, trace.nodes, { got, due });
  }
  return judged(got, due);
}

function change(cells: Int32Array, cell: number, by: number): void {
  cells[cell] = (cells[cell] as number) + by;
}

interface Ledger {
  readonly got: Float64Array;
  readonly due: Float64Array;
}

function addSample(now: { runs: Float64Array; wants: Float64Array }, nodes: number, { got, due }: Ledger): void {
  const level = fairLevel(now.wants, nodes);
  for (let user = 0; user < got.length; user += 1) {
    got[user] = (got[user] as number) + (now.runs[user] as number);
    due[user] = (due[user] as number) + Math.min(now.wants[user] as number, level);
  }
}

/** The most that anyone is given when all who want more are given the same. */
export function fairLevel(wants: Float64Array, nodes: number): number {
  const sorted = wants.filter((want) => want > 0).sort();
  let left = nodes;
  for (let i = 0; i < sorted.length; i += 1) {
    const each = left / (sorted.length - i);
    const want = sorted[i] as number;
    if (want > each) return each;
    left -= want;
  }
  return nodes;
}

function judged(got: Float64Array, due: Float64Array): Shares {
  const total = due.reduce((sum, value) => sum + value, 0);
  const ratios: number[] = [];
  let maxDeviation = 0;
  for (let user = 0; user < due.length; user += 1) {
    const mine = due[user] as number;
    if (mine <= 0) continue;
    ratios.push((got[user] as number) / mine);
    maxDeviation = Math.max(maxDeviation, Math.abs((got[user] as number) - mine) / total);
  }
  const parts = (values: Float64Array): Float64Array => {
    const sum = values.reduce((all, value) => all + value, 0);
    return values.map((value) => (sum === 0 ? 0 : value / sum));
  };
  return { maxDeviation, jain: jain(ratios), got: parts(got), due: parts(due) };
}
