// What every policy is: trace in, one outcome per job out, in the order of the trace's queue. Virtual
// time only; the same trace gives the same outcomes.

import type { Trace } from "../trace/trace.ts";

export interface Outcomes {
  /** Of the attempt that ran to its end. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** 1: started ahead of another that had been waiting longer or ranked higher. */
  readonly backfilled: Uint8Array;
  /** How often a running job was stopped for another. */
  readonly preemptions: number;
  /** The same per job. */
  readonly stops: Uint16Array;
  /** Seconds that each job ran in vain, in attempts that were stopped. */
  readonly lost: Float64Array;
}

/** Told now and then: how many jobs have started. */
export type OnProgress = (started: number) => void;

export type Policy = (trace: Trace, onProgress: OnProgress) => Outcomes;

export function createOutcomes(count: number) {
  return {
    start: new Float64Array(count),
    end: new Float64Array(count),
    backfilled: new Uint8Array(count),
    preemptions: 0,
    stops: new Uint16Array(count),
    lost: new Float64Array(count),
  };
}
