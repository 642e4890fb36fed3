// What every policy is: trace in, one outcome per job out, in the order of the trace's queue. Virtual
// time only; the same trace gives the same outcomes.

import type { Trace, TraceJob } from "../trace/trace.ts";

export interface Outcome {
  readonly job: TraceJob;
  readonly start: number;
  readonly end: number;
  /** Started ahead of another that had been waiting longer or ranked higher. */
  readonly backfilled: boolean;
}

/** Told after every finished instant: how many jobs have started. */
export type OnProgress = (started: number) => void;

export type Policy = (trace: Trace, onProgress: OnProgress) => readonly Outcome[];
