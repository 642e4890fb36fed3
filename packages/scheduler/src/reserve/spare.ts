// Counts the nodes available at an instant beyond the reservations, by number alone: it leaves out which nodes, their
// topology and hardware, and other vClusters' reservations. The count is therefore an upper bound: where it is too
// small, the nodes themselves need not be searched. Valid until a start or a reservation changes the draft.

import { type ReleaseTimes, releasedBy } from "../input/releases.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation, PlannedStart, SpareNodes } from "../plan/planned-reservation.ts";
import { releaseTimesIn } from "../plan/release-order.ts";

/** Starts of this plan whose end is counted; nodes of starts beyond the limit count as never taken. */
const START_LIMIT = 256;

export function spareOf(draft: Draft): SpareNodes {
  draft.spare ??= createSpare(draft);
  return draft.spare;
}

function createSpare(draft: Draft): SpareNodes {
  const times = releaseTimesIn(draft);
  const { now, reservations, starts } = draft;
  // Plain arrays: for a few numbers a typed array costs more to create than it saves.
  const reservedAt: number[] = [];
  for (let i = 0; i < reservations.length; i += 1) reservedAt.push((reservations[i] as PlannedReservation).startsAt);
  sortInstants(reservedAt);
  const spareAtReservation: number[] = [];
  for (let i = 0; i < reservedAt.length; i += 1) {
    const start = reservedAt[i] as number;
    spareAtReservation.push(spareWith(draft, start, releasedBy(times, start)));
  }

  let instants: readonly number[] | null = null;
  /** By instant; computed with the instants, since callers ask about all of them. */
  const spareAtInstant: number[] = [];
  const findInstants = (): readonly number[] => {
    if (instants !== null) return instants;
    instants = mergeInstants(draft, times);
    let next = 0;
    for (let i = 0; i < instants.length; i += 1) {
      const at = instants[i] as number;
      while (next < times.at.length && (times.at[next] as number) <= at) next += 1;
      spareAtInstant.push(spareWith(draft, at, next === 0 ? 0 : (times.count[next - 1] as number)));
    }
    return instants;
  };
  const couldStartAt: SpareNodes["couldStartAt"] = (job, instant, own = null) => {
    const at = findInstants()[instant] as number;
    if ((spareAtInstant[instant] as number) + ownNodesAt(own, at) < job.nodesNeeded) return false;
    const end = at + job.occupancy;
    for (let i = 0; i < reservedAt.length; i += 1) {
      const start = reservedAt[i] as number;
      if (start >= end) return true;
      if (start > at && (spareAtReservation[i] as number) + ownNodesAt(own, start) < job.nodesNeeded) return false;
    }
    return true;
  };

  return {
    get instants() {
      return findInstants();
    },
    couldStartAt,
    freeUntil(instant, own = null) {
      let fewest = draft.freeCount;
      for (let i = 0; i < reservedAt.length && (reservedAt[i] as number) < instant; i += 1) {
        fewest = Math.min(fewest, (spareAtReservation[i] as number) + ownNodesAt(own, reservedAt[i] as number));
      }
      return fewest;
    },
    couldImprove(reservation) {
      if (draft.hasForeignReservations || starts.length > START_LIMIT) return true;
      const all = findInstants();
      for (let instant = 0; instant < all.length; instant += 1) {
        const at = all[instant] as number;
        if (at >= reservation.startsAt) return false;
        if (at > now && couldStartAt(reservation.job, instant, reservation)) return true;
      }
      return false;
    },
  };
}

/** Nodes beyond the reservations at that instant, when `released` of the busy ones are released. */
function spareWith({ freeCount, starts, reservations }: Draft, instant: number, released: number): number {
  let count = freeCount + released;
  for (let i = 0; i < starts.length; i += 1) {
    const { endsAt, nodes } = starts[i] as PlannedStart;
    if (i >= START_LIMIT || endsAt <= instant) count += nodes;
  }
  for (let i = 0; i < reservations.length; i += 1) {
    const { startsAt, endsAt, nodes } = reservations[i] as PlannedReservation;
    if (startsAt <= instant && instant < endsAt) count -= nodes.length;
  }
  return count;
}

/** The nodes of the job's own reservation are not in its way. */
const ownNodesAt = (own: PlannedReservation | null, instant: number): number =>
  own !== null && own.startsAt <= instant && instant < own.endsAt ? own.nodes.length : 0;

/** Merges the releases, the ends of starts and the ends of reservations, ascending. */
function mergeInstants({ starts, reservations, now }: Draft, { at }: ReleaseTimes): readonly number[] {
  const others: number[] = [];
  for (let i = 0; i < starts.length; i += 1) others.push((starts[i] as PlannedStart).endsAt);
  for (let i = 0; i < reservations.length; i += 1) {
    const { endsAt } = reservations[i] as PlannedReservation;
    if (endsAt > now) others.push(endsAt);
  }
  if (others.length === 0) return at;
  sortInstants(others);
  const merged: number[] = [];
  let next = 0;
  for (let i = 0; i < others.length; i += 1) {
    const other = others[i] as number;
    for (; next < at.length && (at[next] as number) <= other; next += 1) merged.push(at[next] as number);
    merged.push(other);
  }
  for (; next < at.length; next += 1) merged.push(at[next] as number);
  return merged;
}

/** Up to this many an insertion sort is faster: the list is short and mostly sorted already. */
const INSERTION_SORT_LIMIT = 32;

function sortInstants(instants: number[]): void {
  if (instants.length > INSERTION_SORT_LIMIT) {
    instants.sort((a, b) => a - b);
    return;
  }
  for (let i = 1; i < instants.length; i += 1) {
    const moving = instants[i] as number;
    let hole = i;
    for (; hole > 0 && (instants[hole - 1] as number) > moving; hole -= 1) {
      instants[hole] = instants[hole - 1] as number;
    }
    instants[hole] = moving;
  }
}
