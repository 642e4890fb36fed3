// A machine of equal nodes under a classic policy: free nodes, running and waiting jobs, and the position in the trace.

import type { Trace } from "../../trace/trace.ts";
import { createOutcomes, type OnProgress } from "../base/policy.ts";
import { addEnd, createEnds } from "./ends.ts";
import { addRelease, createReleases, type Shadow } from "./releases.ts";
import { createWaiting } from "./waiting.ts";

export type Backfill = "none" | "queue order" | "shortest first";

export const NO_HEAD = -1;

export type ClassicMachine = ReturnType<typeof createMachine>;

export function createMachine(trace: Trace, backfill: Backfill, onProgress: OnProgress) {
  const outcomes = createOutcomes(trace.count);
  const atOnce = Math.min(trace.count, trace.nodes);
  const shadow: Shadow = { time: 0, extra: 0 };
  return {
    trace,
    backfill,
    onProgress,
    outcomes,
    isStarted: new Uint8Array(trace.count),
    ends: createEnds(outcomes.end, atOnce),
    releases: createReleases(atOnce),
    waiting: createWaiting(),
    shadow,
    /** The head whose shadow is still valid. */
    shadowOf: NO_HEAD,
    free: trace.nodes,
    /** The lowest row that has not started. */
    head: 0,
    /** Rows below this one have been submitted. */
    submitted: 0,
    started: 0,
  };
}

/** Progress is reported once per this many starts. */
const PROGRESS_STEP = 1024;

export function start(machine: ClassicMachine, row: number, now: number): void {
  const { trace, outcomes } = machine;
  const size = trace.size[row] as number;
  machine.isStarted[row] = 1;
  outcomes.start[row] = now;
  outcomes.end[row] = now + (trace.run[row] as number);
  machine.free -= size;
  addEnd(machine.ends, row);
  if (machine.backfill !== "none") addRelease(machine.releases, now + (trace.request[row] as number), size);
  machine.started += 1;
  if (machine.started % PROGRESS_STEP === 0) machine.onProgress(machine.started);
}
