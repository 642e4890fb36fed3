// What a cycle tells about those that wait. Brief: reasons for the first of them, and the start of whoever
// has a reservation. Full: an expected start for everyone, and reasons and the score up to a bound.

import type { AllocationId, Instant, Scores } from "@lattice/core";
import type { CycleInput, CycleResult, PendingReason } from "./cycle-types.ts";
import type { Decided } from "./decided.ts";
import { createEstimator } from "./estimate.ts";
import { explainer } from "./explain.ts";
import type { Job } from "./job.ts";
import { REASONS_LIMIT, REPORT_LIMIT } from "./limits.ts";
import { scores } from "./score/score.ts";

type Told = Pick<CycleResult, "reasons" | "estimates" | "scores">;

export function report(input: CycleInput, decided: Decided): Told {
  const full = input.report === "full";
  const reasons = new Map<AllocationId, readonly PendingReason[]>();
  const breakdowns = new Map<AllocationId, Scores>();
  const estimates = new Map<AllocationId, Instant>();
  for (const held of decided.draft.held) estimates.set(held.job.input.id, held.startsAt);
  for (const { allocation, startsAt } of decided.preemptions) estimates.set(allocation, startsAt);
  if (input.report === "none") return { reasons, estimates, scores: breakdowns };
  const { reasons: explain } = explainer(decided);
  const estimator = full ? createEstimator(input, decided.draft) : null;
  let left = full ? REPORT_LIMIT : REASONS_LIMIT;
  for (const job of waiting(decided, input, full)) {
    const { id } = job.input;
    if (left > 0) {
      reasons.set(id, explain(job));
      if (decided.basis !== null && full) breakdowns.set(id, scores(decided.basis, job));
      left -= 1;
    } else if (estimator === null) break;
    if (estimator === null || estimates.has(id)) continue;
    const startsAt = estimator.next(job);
    if (startsAt !== null) estimates.set(id, startsAt);
  }
  return { reasons, estimates, scores: breakdowns };
}

/** In order of the queue; a brief report may be silent about those who have been told. */
const waiting = ({ queue, draft }: Decided, { told }: CycleInput, full: boolean): Iterable<Job> =>
  queue.those(({ id }) => !draft.placed.has(id) && (full || told?.has(id) !== true));
