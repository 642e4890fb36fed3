// The values a draft is made of besides its arrays: reservations, starts, and what follows from both by
// number alone.

import { compareAllocationIds, type Instant } from "@lattice/core";
import type { Reservation } from "./cycle-types.ts";
import type { Job } from "./job.ts";

export interface Held {
  readonly job: Job;
  readonly startsAt: Instant;
  readonly endsAt: number;
  readonly nodes: readonly number[];
  /** As the cycle before promised it, where nothing about it has changed. */
  readonly promise?: Reservation;
}

/** The order in which promises are kept and told: by start, and among equal ones by id. */
export const byStart = (a: Held, b: Held): number =>
  a.startsAt - b.startsAt || compareAllocationIds(a.job.input.id, b.job.input.id);

/** A start of this plan: how many nodes, until when. */
export interface Begun {
  readonly endsAt: number;
  readonly nodes: number;
}

export interface Spare {
  /** When something comes back or a promise is over: the instants at which a start may become possible, ascending. */
  readonly turns: readonly number[];
  /** Might the job begin at that turn? `own` does not stand in its way. */
  couldBegin(job: Job, turn: number, own?: Held | null): boolean;
  /** Of the nodes free now, those that no reservation but `own` needs before the instant. */
  until(instant: number, own?: Held | null): number;
  /** Might the owner of the promise begin before that, though not now? */
  couldBetter(promise: Held): boolean;
}
