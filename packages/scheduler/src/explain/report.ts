// The result of a cycle. A brief report has reasons for the first pending allocations and the start of each reservation.
// A full report has an expected start for all, and reasons and scores up to a limit.

import { type AllocationId, type Instant, instant, type Scores } from "@lattice/core";
import { REASONS_LIMIT, REPORT_LIMIT } from "../base/bounds.ts";
import type { Job } from "../fit/job.ts";
import type { CycleInput, CycleResult, PendingReason, Reservation } from "../input/cycle-input.ts";
import { nodeIdsOf } from "../machine/node-ids.ts";
import type { Draft } from "../plan/draft.ts";
import { compareByStart, type PlannedReservation } from "../plan/planned-reservation.ts";
import { scores } from "../score/score.ts";
import type { CycleDecision } from "./decision.ts";
import { createEstimator } from "./estimate.ts";
import { createExplainer } from "./reasons.ts";

/** Returns the result of a decision, with the report that the input asks for. */
export function toResult(input: CycleInput, decision: CycleDecision): CycleResult {
  const { draft, placements, preemptions, considered } = decision;
  return {
    vcluster: input.vcluster,
    basis: input.basis,
    placements,
    preemptions,
    reservations: [...draft.reservations].sort(compareByStart).map((planned) => toReservation(draft, planned)),
    ...report(input, decision),
    considered,
  };
}

/** Returns the previous reservation itself where nothing about it has changed. */
const toReservation = ({ machine }: Draft, planned: PlannedReservation): Reservation =>
  planned.carriedOver ?? {
    allocation: planned.job.input.id,
    startsAt: planned.startsAt,
    nodes: nodeIdsOf(machine, planned.nodes),
    endsAt: Number.isFinite(planned.endsAt) ? instant(planned.endsAt) : null,
  };

function report(input: CycleInput, decision: CycleDecision): Pick<CycleResult, "reasons" | "estimates" | "scores"> {
  const isFull = input.report === "full";
  const reasons = new Map<AllocationId, readonly PendingReason[]>();
  const breakdowns = new Map<AllocationId, Scores>();
  const estimates = new Map<AllocationId, Instant>();
  for (const { job, startsAt } of decision.draft.reservations) estimates.set(job.input.id, startsAt);
  for (const { allocation, startsAt } of decision.preemptions) estimates.set(allocation, startsAt);
  if (input.report === "none") return { reasons, estimates, scores: breakdowns };
  const explainer = createExplainer(decision);
  const estimator = isFull ? createEstimator(input, decision.draft) : null;
  let left = isFull ? REPORT_LIMIT : REASONS_LIMIT;
  for (const job of reportedJobs(decision, input, isFull)) {
    const { id } = job.input;
    if (left > 0) {
      reasons.set(id, explainer.reasons(job));
      if (decision.basis !== null && isFull) breakdowns.set(id, scores(decision.basis, job));
      left -= 1;
    } else if (estimator === null) break;
    if (estimator === null || estimates.has(id)) continue;
    const startsAt = estimator.next(job);
    if (startsAt !== null) estimates.set(id, startsAt);
  }
  return { reasons, estimates, scores: breakdowns };
}

/** In queue order; a brief report leaves out allocations that an earlier report covers. */
const reportedJobs = ({ queue, draft }: CycleDecision, { reported }: CycleInput, isFull: boolean): Iterable<Job> =>
  queue.select(({ id }) => !draft.placed.has(id) && (isFull || reported?.has(id) !== true));
