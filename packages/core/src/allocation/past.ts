// What an allocation has been through before its present phase: attempts that were given up, and placements
// that were refused. Both are kept in the record itself, so that its decision timeline is the same on every
// server, outlives restarts, and goes into the history with it. The newest are kept, up to a bound; a plain
// allocation that runs once carries nothing.

import type { Attempt, Instant, LogIndex, NodeId } from "../ids.ts";
import type { FailureReason } from "./phase.ts";

/** More requeues than nearly every policy allows. */
export const MAX_PAST_ATTEMPTS = 32;
/** Of each: a plan that collides again and again says the same. */
export const MAX_PAST_REFUSALS = 8;
/** A service that scales for weeks: its newest days. */
export const MAX_PAST_NOTES = 64;
/** Named per attempt; the others are counted. */
export const MAX_PAST_NODES = 16;

export interface PastAttempt {
  readonly attempt: Attempt;
  readonly nodeCount: number;
  /** The first few. */
  readonly nodes: readonly NodeId[];
  readonly placedAt: Instant;
  /** Null: it never ran. */
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  /** The phase it went to, and why: "pending" and "node_failure", for example. */
  readonly to: "pending" | "suspended";
  readonly cause: string;
  readonly scoreMilli: number;
  readonly backfilled: boolean;
  /** What went wrong; absent: nothing, or it is not known. */
  readonly failure?: PastFailure;
  /** In words, for whom or what it was stopped. Absent: it was not, or it is not known. */
  readonly why?: string;
}

/** Of what is said about one attempt. */
export const MAX_PAST_WHY = 256;

export interface PastFailure {
  readonly reason: FailureReason;
  readonly exitCode: number | null;
  readonly message: string;
}

/** Something that happened to it beside the moves of its phase. */
export interface PastNote {
  readonly at: Instant;
  readonly type: NoteType;
  /** For programs: "scaled_up", "updated", "node_lost". */
  readonly kind: string;
  readonly attempt: Attempt;
  /** One sentence. */
  readonly text: string;
  readonly nodes?: readonly NodeId[];
}

export type NoteType = "state" | "decision" | "failure" | "scaling" | "preemption";

export interface PastRefusal {
  readonly at: Instant;
  /** Of the plan: the last entry that the scheduler had seen. */
  readonly basis: LogIndex;
  /** Of the refusal. */
  readonly code: string;
  readonly detail: string;
}

export interface Past {
  readonly attempts: readonly PastAttempt[];
  readonly refusals: readonly PastRefusal[];
  /** Absent: none. */
  readonly notes?: readonly PastNote[];
}
