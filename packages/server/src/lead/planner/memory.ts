// The planner's memory between cycles. Reservations: a vCluster's reservations are inputs of its next cycle, and of the cycles of
// other vClusters that share its nodes, while their owners wait. Reports: a full report comes at most every few seconds
// and takes a small part of the time; the results in between extend the last full report.

import { type Instant, policyOf, type VCluster, type VClusterId, type View } from "@lattice/core";
import {
  type CycleCache,
  type CycleResult,
  createCycleCache,
  type ExternalInputs,
  type ForeignReservation,
  type Reservation,
} from "@lattice/scheduler";
import { OverlayMap } from "./overlay-map.ts";

interface ScheduleMemory {
  /** Returns what the next cycle should know in addition to the view. */
  externalInputs(vcluster: VCluster, now: Instant): ExternalInputs;
  /** Returns when the next full report is due for a queue that cannot move; `null` when the queue is empty. */
  reportDueAt(vcluster: VCluster): number | null;
  /** Remembers the result of a cycle; returns it extended by what the last full report says about the others. */
  recordResult(result: CycleResult, now: Instant, costMs: number): RecordedResult;
  /** Continues with the reservations of an earlier planner; the first report is full. */
  carryOver(vcluster: VClusterId, reservations: readonly Reservation[]): void;
}

interface RecordedResult {
  readonly extended: CycleResult;
  /** Its report is a full one. */
  readonly isFull: boolean;
}

/** The shortest time between two full reports. */
const REPORT_GAP_MS = 2_000;
/** The time between two full reports is at least this many times what the last one cost. */
const REPORT_COST_FACTOR = 20;

export function createScheduleMemory(view: () => View): ScheduleMemory {
  const last = new Map<VClusterId, CycleResult>();
  const dueAt = new Map<VClusterId, number>();
  const carriedOver = new Map<VClusterId, readonly Reservation[]>();
  const caches = new Map<VClusterId, CycleCache>();
  const cacheOf = (vcluster: VClusterId): CycleCache => {
    const cache = caches.get(vcluster) ?? createCycleCache();
    caches.set(vcluster, cache);
    return cache;
  };
  /** The newest reservations of each vCluster. */
  const known = () => {
    const inherited = [...carriedOver].map(([id, reservations]) => [id, { reservations }] as const);
    return inherited.length === 0 ? last : new Map([...inherited, ...last]);
  };
  const isReportDue = (vcluster: VClusterId, now: Instant): boolean => now >= (dueAt.get(vcluster) ?? 0);
  return {
    externalInputs({ id }, now) {
      const previous = last.get(id);
      return {
        previousReservations: previous?.reservations ?? carriedOver.get(id) ?? [],
        foreignReservations: foreignReservations(view(), known(), id, now),
        report: isReportDue(id, now) ? "full" : "brief",
        // A brief report leaves out the allocations of the last full one.
        reported: previous?.reasons ?? new Map(),
        cache: cacheOf(id),
      };
    },
    carryOver: (vcluster, reservations) => void carriedOver.set(vcluster, reservations),
    reportDueAt: ({ id }) => (view().pendingCount(id) > 0 ? (dueAt.get(id) ?? 0) : null),
    recordResult(result, now, costMs) {
      const { vcluster } = result;
      const before = last.get(vcluster);
      const isFull = isReportDue(vcluster, now) || before === undefined;
      carriedOver.delete(vcluster);
      if (isFull) dueAt.set(vcluster, now + Math.max(REPORT_GAP_MS, REPORT_COST_FACTOR * costMs));
      const extended = isFull ? result : extendReport(before, result);
      last.set(vcluster, extended);
      return { extended, isFull };
    },
  };
}

/** Returns the reservations of other vClusters whose owners still wait. */
export function foreignReservations(
  view: View,
  last: ReadonlyMap<VClusterId, Pick<CycleResult, "reservations">>,
  own: VClusterId,
  now: Instant,
): readonly ForeignReservation[] {
  const foreign: ForeignReservation[] = [];
  for (const [vcluster, { reservations }] of last) {
    const owner = view.vcluster(vcluster);
    if (vcluster === own || owner === undefined) continue;
    const { sensitive } = policyOf(owner);
    for (const { allocation, startsAt, endsAt = null, nodes } of reservations) {
      // A reservation that is due is for its own cycle to start; others must not wait for it without end.
      const record = view.allocation(allocation);
      if (startsAt <= now || record?.phase.kind !== "pending") continue;
      foreign.push({ allocation, vcluster, tenant: record.spec.tenant, sensitive, startsAt, endsAt, nodes });
    }
  }
  return foreign;
}

/**
 * Returns the new result over the report before it. Allocations that started or ended otherwise stay in the report until
 * the next full one, so readers check whether an allocation is pending.
 */
function extendReport(before: CycleResult, result: CycleResult): CycleResult {
  const placed = result.placements.map(({ allocation }) => allocation);
  return {
    ...result,
    reasons: OverlayMap.over(before.reasons, result.reasons, placed),
    estimates: OverlayMap.over(before.estimates, result.estimates, placed),
    scores: OverlayMap.over(before.scores, result.scores, placed),
  };
}
