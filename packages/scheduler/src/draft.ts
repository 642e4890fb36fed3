// The plan while it is being made: what each node is promised to, from when it can be had, and which
// reservations stand. The only mutable value of a cycle; steps read it, `cycle.ts` changes it.

import type { AllocationId, Instant } from "@lattice/core";
import { candidates } from "./candidates.ts";
import type { PendingInput } from "./cycle-types.ts";
import { WALLTIME_GRACE } from "./limits.ts";
import type { Machine, Match } from "./machine.ts";
import type { Wanted } from "./place.ts";

/** A pending allocation with its candidates. */
export interface Job {
  readonly input: PendingInput;
  readonly match: Match;
  /** The fewest nodes it can start on: its minimum, or its required nodes where they are more. */
  readonly least: number;
  /** How long its nodes are gone once it starts, grace included; Infinity when unbounded. */
  readonly occupies: number;
}

export interface Held {
  readonly job: Job;
  readonly startsAt: Instant;
  readonly endsAt: number;
  readonly nodes: readonly number[];
}

export interface Draft {
  readonly machine: Machine;
  readonly now: Instant;
  /** As in the machine, moved on by what this plan starts. */
  readonly availableFrom: Float64Array;
  freeCount: number;
  held: readonly Held[];
  readonly placed: Set<AllocationId>;
}

export function draftOf(machine: Machine, now: Instant): Draft {
  const availableFrom = machine.availableFrom.slice();
  return { machine, now, availableFrom, freeCount: machine.freeCount, held: [], placed: new Set() };
}

export function jobOf(machine: Machine, input: PendingInput): Job {
  const occupies = input.walltime === null ? Number.POSITIVE_INFINITY : input.walltime + WALLTIME_GRACE;
  const match = candidates(machine, input.constraints);
  return { input, match, least: Math.max(input.minNodes, match.required?.length ?? 0), occupies };
}

/** What to ask of `place`; `atMost` is cut to the quota's headroom by the caller. */
export function wantedOf(job: Job, atMost: number): Wanted {
  const tight = job.input.constraints.topology === "tight";
  return { atLeast: job.least, atMost, tight, required: job.match.required ?? [] };
}

/** Could it ever start on these nodes, were all of them free? */
export function isPossible(job: Job): boolean {
  const { required, nodes } = job.match;
  return required !== null && nodes.length >= job.least && job.least <= job.input.maxNodes;
}

export const isFree = (draft: Draft, node: number): boolean => (draft.availableFrom[node] ?? 0) <= draft.now;
