// Identical requests keep queue order: a start or reservation found by a later job is handed to the first identical
// job ahead, whose old reservation goes to the next one, down to the job that found it. Later jobs often find a slot first, because a
// reservation carried over from the previous cycle blocks its nodes for all others. Reservations never move later: where one
// would, the job that found the slot keeps it.

import type { AllocationId } from "@lattice/core";
import { bitsOf, intersects } from "../base/bits.ts";
import { areInterchangeable, type Job } from "../fit/job.ts";
import type { Quotas } from "../limits/quotas.ts";
import type { Match } from "../machine/match.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import type { Queue } from "../queue/queue.ts";
import { headroomNow, mayReserve } from "../reserve/kept-quota.ts";
import { addReservation, removeReservation, reservationOf } from "../reserve/reserve.ts";

/** Interchangeable, of one tenant and class: only the time of submission differs. */
export const areIdentical = (a: Job, b: Job): boolean =>
  a.input.tenant === b.input.tenant && a.input.preemptionClass === b.input.preemptionClass && areInterchangeable(a, b);

/** The jobs that the walk has passed and that still wait. */
export interface WaitingList {
  /** Adds the job drawn last. */
  add(job: Job): void;
  remove(job: Job): void;
  /** Jobs ahead of the one drawn last that are interchangeable with it, in queue order. */
  ahead(job: Job): Iterable<Job>;
}

interface WaitingJob {
  readonly job: Job;
  /** Its index in the input. */
  readonly index: number;
}

export function createWaitingList(
  { placed }: Pick<Draft, "placed">,
  queue: Pick<Queue, "compare" | "lastDrawn">,
): WaitingList {
  const lists = new Map<Match, Map<number, WaitingJob[]>>();
  const listOf = (job: Job): WaitingJob[] | undefined => lists.get(job.match)?.get(job.occupancy);
  return {
    add(job) {
      const index = queue.lastDrawn;
      const list = listOf(job);
      if (list !== undefined) {
        let at = list.length;
        // Mostly at the end; a job that was skipped may come before others that were not.
        while (at > 0 && queue.compare((list[at - 1] as WaitingJob).index, index) > 0) at -= 1;
        list.splice(at, 0, { job, index });
        return;
      }
      const byOccupancy = lists.get(job.match) ?? new Map<number, WaitingJob[]>();
      lists.set(job.match, byOccupancy);
      byOccupancy.set(job.occupancy, [{ job, index }]);
    },
    remove(job) {
      const list = listOf(job);
      const at = list?.findIndex((waiting) => waiting.job === job) ?? -1;
      if (at >= 0) list?.splice(at, 1);
    },
    *ahead(job) {
      for (const { job: waiting, index } of listOf(job) ?? NONE) {
        if (queue.compare(index, queue.lastDrawn) >= 0) return;
        if (!placed.has(waiting.input.id) && areInterchangeable(waiting, job)) yield waiting;
      }
    },
  };
}

const NONE: readonly WaitingJob[] = [];

/** Returns the same start and nodes for another job. */
export const transferTo = ({ startsAt, endsAt, nodes }: PlannedReservation, job: Job): PlannedReservation => ({
  job,
  startsAt,
  endsAt,
  nodes,
});

interface FoundStart {
  readonly job: Job;
  /** The reservation of the job; not in the draft. */
  readonly reservation: PlannedReservation | null;
  /** Nodes on which the job could start now. */
  readonly nodes: readonly number[];
  readonly quotas: Quotas;
}

/**
 * Returns the job ahead that starts on these nodes, and the reservation that the finder is left with. `null` when there is
 * none; the draft is then unchanged.
 */
export function startIdenticalAhead(
  draft: Draft,
  waitingList: WaitingList,
  { job, reservation, nodes, quotas }: FoundStart,
): { readonly job: Job; readonly remaining: PlannedReservation | null } | null {
  const found: PlannedReservation = { job, startsAt: draft.now, endsAt: draft.now + job.occupancy, nodes };
  const mayTake = (ahead: Job): boolean => headroomNow(draft, quotas, ahead, reservation) >= nodes.length;
  const handovers = planHandovers(draft, waitingList, { found, reservation, quotas, mayTake });
  const [first] = handovers;
  if (first === undefined) return null;
  if (first.givenUp !== null) removeReservation(draft, first.givenUp);
  applyHandovers(draft, handovers.slice(1));
  waitingList.remove(first.job);
  return { job: first.job, remaining: remainingReservation(handovers, reservation, job) };
}

interface FoundReservation {
  readonly job: Job;
  /** The reservation of the job; not in the draft. */
  readonly reservation: PlannedReservation | null;
  /** An earlier reservation that the job could have; not in the draft. */
  readonly found: PlannedReservation;
  /** The most reservations the plan may have. */
  readonly depth: number;
  readonly quotas: Quotas;
}

type HandoverOutcome =
  | { readonly isHandedOver: false }
  /** The remaining reservation of the job that found it; not in the draft. */
  | { readonly isHandedOver: true; readonly remaining: PlannedReservation | null };

/** Hands a reservation to identical jobs ahead. */
export function handOver(
  draft: Draft,
  waitingList: WaitingList,
  { job, reservation, found, depth, quotas }: FoundReservation,
): HandoverOutcome {
  const mayTake = (ahead: Job): boolean => mayReserve(draft, quotas, ahead, reservation);
  const handovers = planHandovers(draft, waitingList, { found, reservation, quotas, mayTake });
  const last = handovers.at(-1);
  if (last === undefined) return { isHandedOver: false };
  const remaining = remainingReservation(handovers, reservation, job);
  const added = (last.givenUp === null ? 1 : 0) + (remaining === null ? 0 : 1);
  if (draft.reservations.length + added > depth) return { isHandedOver: false };
  applyHandovers(draft, handovers);
  return { isHandedOver: true, remaining };
}

/** A job ahead, the earlier reservation that it takes, and its own, which it gives up. */
interface Handover {
  readonly job: Job;
  readonly taken: PlannedReservation;
  readonly givenUp: PlannedReservation | null;
}

interface OpenSlot {
  readonly found: PlannedReservation;
  readonly reservation: PlannedReservation | null;
  readonly quotas: Quotas;
  /** Whether a job may take the slot itself. */
  readonly mayTake: (job: Job) => boolean;
}

/**
 * Each job takes what the one before it gave up, where that is earlier than its own reservation. The last one given up
 * goes to the finder, so it must not be later than the finder's own, unless the finder can keep its own beside the slot.
 */
function planHandovers(
  draft: Draft,
  waitingList: WaitingList,
  { found, reservation, quotas, mayTake }: OpenSlot,
): Handover[] {
  const handovers: Handover[] = [];
  const latest = reservation === null || canKeep(draft, reservation, found) ? null : reservation.startsAt;
  let taken: PlannedReservation = found;
  for (const job of waitingList.ahead(found.job)) {
    const givenUp = reservationOf(draft, job);
    if (givenUp !== null && givenUp.startsAt <= taken.startsAt) continue;
    if (latest !== null && (givenUp === null || givenUp.startsAt > latest)) continue;
    if (taken === found ? !mayTake(job) : !mayReserve(draft, quotas, job, reservation)) continue;
    handovers.push({ job, taken, givenUp });
    if (givenUp === null) break;
    taken = givenUp;
  }
  return handovers;
}

/** False as well where the slot was found by moving another reservation into the place of this one. */
const canKeep = (draft: Draft, reservation: PlannedReservation, found: PlannedReservation): boolean =>
  [found, ...draft.reservations].every((other) => areDisjoint(draft, other, reservation));

function areDisjoint(
  { availableFrom: { length: size } }: Draft,
  a: PlannedReservation,
  b: PlannedReservation,
): boolean {
  if (a.endsAt <= b.startsAt || b.endsAt <= a.startsAt) return true;
  return !intersects(bitsOf(a.nodes, size), bitsOf(b.nodes, size));
}

/** The last reservation given up, or the finder's own where that is earlier. */
function remainingReservation(
  handovers: readonly Handover[],
  own: PlannedReservation | null,
  job: Job,
): PlannedReservation | null {
  const givenUp = handovers.at(-1)?.givenUp ?? null;
  if (givenUp === null) return own;
  return own !== null && own.startsAt < givenUp.startsAt ? own : transferTo(givenUp, job);
}

function applyHandovers(draft: Draft, handovers: readonly Handover[]): void {
  for (const { givenUp } of handovers) if (givenUp !== null) removeReservation(draft, givenUp);
  for (const { job, taken } of handovers) addReservation(draft, transferTo(taken, job));
}

/** Returns the earliest reservation of an identical job that the walk has not reached. */
export function identicalBehind(
  draft: Draft,
  job: Job,
  unvisited: ReadonlyMap<AllocationId, PlannedReservation>,
): PlannedReservation | null {
  let earliest: PlannedReservation | null = null;
  for (const reservation of draft.reservations) {
    if (!unvisited.has(reservation.job.input.id) || !areIdentical(reservation.job, job)) continue;
    if (earliest === null || reservation.startsAt < earliest.startsAt) earliest = reservation;
  }
  return earliest;
}
