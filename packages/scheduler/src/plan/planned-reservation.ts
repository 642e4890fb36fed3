// The values a draft consists of besides its arrays: reservations, starts, the order of releases, and the counts that
// follow from them.

import { compareAllocationIds, type Instant } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { Reservation } from "../input/cycle-input.ts";
import type { ReleaseTimes } from "../input/releases.ts";

export interface PlannedReservation {
  readonly job: Job;
  readonly startsAt: Instant;
  /** Infinity for an unbounded job. */
  readonly endsAt: number;
  readonly nodes: readonly number[];
  /** The previous cycle's reservation, when nothing about it has changed. */
  readonly carriedOver?: Reservation;
}

/** Compares by start, then by id: the order in which reservations are reported. */
export const compareByStart = (a: PlannedReservation, b: PlannedReservation): number =>
  a.startsAt - b.startsAt || compareAllocationIds(a.job.input.id, b.job.input.id);

/** A start of this plan: how many nodes, until when. */
export interface PlannedStart {
  readonly endsAt: number;
  readonly nodes: number;
}

/** Upper bounds by count; see `reserve/spare.ts`. */
export interface SpareNodes {
  /** When a node is released or a reservation ends: the instants at which a start may become possible, ascending. */
  readonly instants: readonly number[];
  /** Whether the job might start at that instant, given by its index; `own` is not in its way. */
  couldStartAt(job: Job, instant: number, own?: PlannedReservation | null): boolean;
  /** How many of the free nodes no reservation but `own` needs before the instant. */
  freeUntil(instant: number, own?: PlannedReservation | null): number;
  /** Whether the owner might start before its reservation, though not now. */
  couldImprove(reservation: PlannedReservation): boolean;
}

/** Busy nodes with a known release, earliest first, then by number. */
export interface ReleaseOrder {
  readonly times: ReleaseTimes;
  readonly order: Int32Array;
  /** Nodes free before the plan, or released by the instant asked about last. */
  readonly bits: Uint32Array;
  /** How many nodes of the order are in `bits`. */
  position: number;
}
