// The interface of a policy: a trace in, one outcome per job out, in queue order. Virtual time only; equal traces give
// equal outcomes.

import type { Trace } from "../../trace/trace.ts";

export interface Outcomes {
  /** Of the attempt that completed. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** 1 when it started ahead of a job that had waited longer or ranked higher. */
  readonly backfilled: Uint8Array;
  /** How often a running job was preempted. */
  readonly preemptions: number;
  /** Jobs that were shown a reserved start. */
  readonly reserved: number;
  /** Jobs that started later than a reserved start they were shown. */
  readonly late: number;
  /** How often each job was preempted. */
  readonly stops: Uint16Array;
  /** Seconds that each job ran in preempted attempts. */
  readonly lost: Float64Array;
}

/** Called now and then with the number of started jobs. */
export type OnProgress = (started: number) => void;

export type ReplayPolicy = (trace: Trace, onProgress: OnProgress) => Outcomes;

export function createOutcomes(count: number) {
  return {
    start: new Float64Array(count),
    end: new Float64Array(count),
    backfilled: new Uint8Array(count),
    preemptions: 0,
    reserved: 0,
    late: 0,
    stops: new Uint16Array(count),
    lost: new Float64Array(count),
  };
}
