// What the loop remembers between cycles. Promises: a vCluster's reservations are handed to its next cycle,
// and to those of the others that share its nodes, for as long as their owners wait. Reports: everyone
// who waits is told about at most every few seconds and for a small share of the time; cycles in
// between only add to the last full report.

import type { AllocationId, Instant, VCluster, VClusterId, View } from "@lattice/core";
import { type Beyond, type CycleResult, createReuse, type ForeignReservation, type Reuse } from "@lattice/scheduler";

export interface ScheduleMemory {
  /** What the next cycle should know beyond the view. */
  beyond(vcluster: VCluster, now: Instant): Beyond;
  /** When the next full report is due for a queue that cannot move; null: nobody waits in it. */
  reportDueAt(vcluster: VCluster): number | null;
  /** Takes a cycle's result with its cost; answers it with what is still true of the last full report. */
  took(result: CycleResult, now: Instant, costMs: number): CycleResult;
}

/** No sooner than this after the last one. */
const REPORT_GAP_MS = 2_000;
/** A full report may take one part in so many of the time. */
const REPORT_SHARE = 20;

export function createScheduleMemory(view: () => View): ScheduleMemory {
  const last = new Map<VClusterId, CycleResult>();
  const dueAt = new Map<VClusterId, number>();
  const reuses = new Map<VClusterId, Reuse>();
  const reuseOf = (vcluster: VClusterId): Reuse => {
    const reuse = reuses.get(vcluster) ?? createReuse();
    reuses.set(vcluster, reuse);
    return reuse;
  };
  const isDue = (vcluster: VClusterId, now: Instant): boolean => now >= (dueAt.get(vcluster) ?? 0);
  return {
    beyond: ({ id }, now) => ({
      previous: last.get(id)?.reservations ?? [],
      foreign: foreignReservations(view(), last, id, now),
      report: isDue(id, now) ? "full" : "brief",
      ...toldBy(last.get(id)),
      reuse: reuseOf(id),
    }),
    reportDueAt: ({ id }) => (view().pendingCount(id) > 0 ? (dueAt.get(id) ?? 0) : null),
    took(result, now, costMs) {
      const before = last.get(result.vcluster);
      const told = isDue(result.vcluster, now) || before === undefined ? result : withReport(before, result);
      if (told === result) dueAt.set(result.vcluster, now + Math.max(REPORT_GAP_MS, REPORT_SHARE * costMs));
      last.set(result.vcluster, told);
      return told;
    },
  };
}

/** Who was told about lately need not be told again before the next full report. */
const toldBy = (result: CycleResult | undefined): Pick<Beyond, "told"> =>
  result === undefined ? {} : { told: result.reasons };

/** Of those that still wait, what others have promised them. */
export function foreignReservations(
  view: View,
  last: ReadonlyMap<VClusterId, CycleResult>,
  own: VClusterId,
  now: Instant,
): readonly ForeignReservation[] {
  const foreign: ForeignReservation[] = [];
  for (const [vcluster, { reservations }] of last) {
    if (vcluster === own || view.vcluster(vcluster) === undefined) continue;
    for (const { allocation, startsAt, endsAt = null, nodes } of reservations) {
      // One whose time has come is for its own cycle to start; it may not be waited for without end.
      if (startsAt <= now || !isPending(view, allocation)) continue;
      foreign.push({ allocation, vcluster, startsAt, endsAt, nodes });
    }
  }
  return foreign;
}

/**
 * The new result, with what the last full report said about those that the new one is silent on. Kept in the
 * maps of that report, which would cost more to copy than a cycle does; who waits no longer is left in
 * them until the next one, so whoever reads asks first who waits.
 */
function withReport(before: CycleResult, result: CycleResult): CycleResult {
  const placed = result.placements.map((placement) => placement.allocation);
  return {
    ...result,
    reasons: carry(before.reasons, result.reasons, placed),
    estimates: carry(before.estimates, result.estimates, placed),
    scores: carry(before.scores, result.scores, placed),
  };
}

function carry<T>(
  old: ReadonlyMap<AllocationId, T>,
  fresh: ReadonlyMap<AllocationId, T>,
  placed: readonly AllocationId[],
): ReadonlyMap<AllocationId, T> {
  const all = old as Map<AllocationId, T>;
  for (const id of placed) all.delete(id);
  for (const [id, value] of fresh) all.set(id, value);
  return all;
}

const isPending = (view: View, id: AllocationId): boolean => view.allocation(id)?.phase.kind === "pending";
