// Failed work restarts with exponential backoff: a service first after a second, batch work first at once, then after
// twice as long each time, up to a bound. Until then it is not queued; the leader releases it when the delay is over. A
// service that has run well for long starts over: earlier failures count neither for its delay nor for its restart limit.

import { type Duration, duration } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { isService } from "../../model/spec/spec.ts";
import type { Step } from "../step.ts";

const FIRST_MS = 1_000;
const MAX_MS = 300_000;

/** Ten times the longest delay: a service that ran this long has recovered. */
export const LONG_RUN: Duration = duration(10 * MAX_MS);

/** Resets the counted requeues at the end of an attempt where a service ran well for long. */
export function forgetRequeuesAfterLongRun(step: Step, record: Allocation): Allocation {
  const { phase, spec, requeues, requeuesForgotten } = record;
  if (!isService(spec.lifecycle) || requeues === requeuesForgotten) return record;
  if (!("startedAt" in phase) || phase.startedAt === null || step.at - phase.startedAt < LONG_RUN) return record;
  return { ...record, requeuesForgotten: requeues };
}

/** Returns the requeues that count. */
export const countedRequeues = ({
  requeues,
  requeuesForgotten,
}: Pick<Allocation, "requeues" | "requeuesForgotten">): number => requeues - requeuesForgotten;

/** Returns the delay before the n-th restart, from 1. */
export const backoffBefore = (restarts: number): Duration =>
  duration(Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(restarts - 1, 20)));
