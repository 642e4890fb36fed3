// Utilisation over time: the span in equal steps, with the busy part of the machine in each. A job adds its nodes to
// the steps it covers, partly to its first and last, as differences that are summed up at the end.

import type { Outcomes } from "../policy/base/policy.ts";
import type { Trace } from "../trace/trace.ts";

export interface Timeline {
  readonly begin: number;
  readonly stepSeconds: number;
  /** Part of the machine in use, 0 to 1, per step. */
  readonly used: readonly number[];
}

export interface ReplaySpan {
  readonly begin: number;
  readonly end: number;
}

/** From the first submission to the last end. */
export function spanOf({ count, submit }: Trace, { end }: Outcomes): ReplaySpan {
  const begin = count === 0 ? 0 : (submit[0] as number);
  let last = begin;
  for (let row = 0; row < count; row += 1) last = Math.max(last, end[row] as number);
  return { begin, end: last };
}

/** Enough for a chart. */
const STEPS = 200;

export function timelineOf(trace: Trace, outcomes: Outcomes, { begin, end }: ReplaySpan): Timeline {
  const stepSeconds = (end - begin) / STEPS;
  const partly = new Float64Array(STEPS + 1);
  const change = new Float64Array(STEPS + 2);
  for (let row = 0; row < trace.count && stepSeconds > 0; row += 1) {
    const size = trace.size[row] as number;
    const from = ((outcomes.start[row] as number) - begin) / stepSeconds;
    const to = ((outcomes.end[row] as number) - begin) / stepSeconds;
    const first = Math.min(STEPS - 1, Math.floor(from));
    const last = Math.min(STEPS - 1, Math.floor(to));
    if (first === last) {
      partly[first] = (partly[first] as number) + (to - from) * size;
      continue;
    }
    partly[first] = (partly[first] as number) + (first + 1 - from) * size;
    partly[last] = (partly[last] as number) + (to - last) * size;
    change[first + 1] = (change[first + 1] as number) + size;
    change[last] = (change[last] as number) - size;
  }
  const used: number[] = [];
  let whole = 0;
  for (let step = 0; step < STEPS; step += 1) {
    whole += change[step] as number;
    used.push((whole + (partly[step] as number)) / trace.nodes);
  }
  return { begin, stepSeconds, used };
}
