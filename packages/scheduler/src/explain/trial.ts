// Tries a changed request in one of two ways. On the plan: one more turn after the plan, by the steps of the cycle,
// undone afterwards; cheap, and never better than reality, since all others came first. By a cycle: a full cycle with
// the change in place of the original.

import type { AllocationId, Instant } from "@lattice/core";
import { startNow } from "../backfill/start-now.ts";
import { EXCHANGE_QUEUE_LIMIT } from "../base/bounds.ts";
import { toJob } from "../fit/job.ts";
import type { CycleInput, CycleResult, PendingInput, ReportLevel } from "../input/cycle-input.ts";
import { isFeasible } from "../place/feasibility.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import { headroomNow, mayReserve } from "../reserve/kept-quota.ts";
import { findReservation } from "../reserve/reserve.ts";
import type { CycleRecord } from "./cycle-record.ts";

export interface StartTrial {
  readonly startsAt: Instant;
  readonly startsNow: boolean;
  /** Whether it has nodes reserved, or the start is only estimated. */
  readonly isCertain: boolean;
}

/** Returns `null` when no start before that instant is known. */
export function tryOnPlan({ input, decision }: CycleRecord, changed: PendingInput, before: number): StartTrial | null {
  const { draft, quotas } = decision;
  const job = toJob(draft.machine, changed, input.signals);
  if (!isFeasible(draft.machine, job)) return null;
  const headroom = headroomNow(draft, quotas, job);
  const canReserve = before > draft.now && mayReserve(draft, quotas, job);
  return withoutReservationOf(draft, changed.id, () => {
    if (headroom > 0 && startNow(draft, job, Math.min(changed.maxNodes, headroom)) !== null) {
      return { startsAt: draft.now, startsNow: true, isCertain: true };
    }
    const reservation = canReserve ? findReservation(draft, job, before) : null;
    return reservation === null ? null : { startsAt: reservation.startsAt, startsNow: false, isCertain: true };
  });
}

/** Runs without the reservation of the allocation, and moves no other. */
function withoutReservationOf<T>(draft: Draft, id: AllocationId, run: () => T): T {
  const { reservations, movesLeft } = draft;
  const own = reservations.filter((one) => one.job.input.id === id);
  for (const one of own) release(draft, one);
  draft.reservations = reservations.filter((one) => one.job.input.id !== id);
  draft.movesLeft = 0;
  const found = run();
  draft.movesLeft = movesLeft;
  draft.reservations = reservations;
  for (const one of own) takeBack(draft, one);
  return found;
}

function release(draft: Draft, reservation: PlannedReservation): void {
  draft.reservedIntervals.remove(reservation);
  draft.budgets?.release(reservation.job);
}

function takeBack(draft: Draft, reservation: PlannedReservation): void {
  draft.reservedIntervals.add(reservation);
  draft.budgets?.reserve(reservation.job, reservation.startsAt, reservation.endsAt);
}

/**
 * Runs the cycle with `changed` in place of the allocation of the same id, or last. With report `none` only a start
 * with nodes is found, in a fraction of the time.
 */
export function tryByCycle(
  run: (input: CycleInput) => CycleResult,
  input: CycleInput,
  changed: PendingInput,
  report: ReportLevel = "full",
): StartTrial | null {
  const known = input.pending.some(({ id }) => id === changed.id);
  const pending = known
    ? input.pending.map((one) => (one.id === changed.id ? changed : one))
    : [...input.pending, changed];
  const { timed: _, ...rest } = input;
  // In a short queue a later job may take the start of an earlier one.
  const turn = report === "none" && pending.length > EXCHANGE_QUEUE_LIMIT ? { stopAfter: changed.id } : null;
  return toTrial(run({ ...rest, pending, report, ...turn }), changed.id, input.now);
}

function toTrial(result: CycleResult, id: AllocationId, now: Instant): StartTrial | null {
  if (result.placements.some(({ allocation }) => allocation === id))
    return { startsAt: now, startsNow: true, isCertain: true };
  const startsAt = result.estimates.get(id);
  if (startsAt === undefined) return null;
  return { startsAt, startsNow: false, isCertain: result.reservations.some(({ allocation }) => allocation === id) };
}
