// When reservations were made and moved, for the timeline of an allocation. Reservations are not in the log, so this is
// the memory of the present leader, limited per allocation and in total; the oldest entries are dropped first.

import type { AllocationId, Instant } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { ReservationMoment } from "./question.ts";

interface ReservationLog {
  recordReservations(result: Pick<CycleResult, "reservations">, at: Instant): void;
  of(id: AllocationId): readonly ReservationMoment[];
}

/** Entries per allocation: the first, and the newest of the others. */
export const MOMENTS_PER_ALLOCATION = 16;
/** Allocations remembered. */
const LOGGED_ALLOCATIONS = 10_000;
/** A start that moves by less counts as unmoved. */
const MOVED_MS = 1_000;

export function createReservationLog(): ReservationLog {
  const moments = new Map<AllocationId, ReservationMoment[]>();
  return {
    recordReservations({ reservations }, at) {
      for (const { allocation, startsAt, nodes } of reservations) {
        const known = moments.get(allocation) ?? [];
        const last = known.at(-1);
        if (last !== undefined && Math.abs(last.startsAt - startsAt) < MOVED_MS && isSame(last.nodes, nodes)) continue;
        known.push({ at, kind: last === undefined ? "reserved" : "reservation_moved", startsAt, nodes });
        if (known.length > MOMENTS_PER_ALLOCATION) known.splice(1, 1);
        moments.set(allocation, known);
        if (moments.size > LOGGED_ALLOCATIONS) forgetOldest();
      }
    },
    of: (id) => moments.get(id) ?? [],
  };

  function forgetOldest(): void {
    const { value } = moments.keys().next();
    if (value !== undefined) moments.delete(value);
  }
}

/** Carried-over reservations are the same object, so this is mostly one comparison. */
const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a === b || (a.length === b.length && a.every((id, n) => id === b[n]));
