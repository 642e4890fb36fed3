// The history of an allocation before its present phase: attempts that were given up, placements that were
// refused, and whatever else happened. All is kept in the record itself, so that its stream of events is the same on every
// server, outlives restarts, and goes into the history with it. The newest are kept, up to a bound, and what is cut
// is counted; a plain allocation that runs once carries nothing. Each knows the entry that brought it, so that a place in
// the stream stays the same for good.

import type { Attempt, Instant, LogIndex, NodeId } from "../../base/ids.ts";
import type { FailureReason } from "./phase.ts";

/** More requeues than nearly every policy allows. */
export const MAX_PAST_ATTEMPTS = 32;
/** Of each: a plan that collides again and again says the same. */
export const MAX_PAST_REFUSALS = 8;
/** A service that scales for weeks: its newest days. */
export const MAX_PAST_NOTES = 64;
/** Of checkpoints, which may come every few minutes and must not push out what is rarer: asked for and taken, 16 times. */
export const MAX_PAST_CHECKPOINT_NOTES = 32;
/** Named per attempt; the others are counted. */
export const MAX_PAST_NODES = 16;

export interface PastAttempt {
  readonly attempt: Attempt;
  readonly nodeCount: number;
  /** The first few. */
  readonly nodes: readonly NodeId[];
  readonly placedAt: Instant;
  /** `null` when it never ran. */
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  /** The phase it went to, and why: "pending" and "node_failure", for example. */
  readonly to: "pending" | "suspended";
  readonly cause: string;
  readonly scoreMilli: number;
  readonly backfilled: boolean;
  /** Missing when the attempt did not fail, or the failure is unknown. */
  readonly failure?: PastFailure;
  /** The reason why it was stopped, as text. Missing when it was not stopped for another. */
  readonly why?: string;
  /** The log entries of this attempt. */
  readonly entries?: Entries;
}

/** The entries of the log by which an attempt was placed, started and ended, as far as it has come. */
export interface Entries {
  readonly placed?: LogIndex;
  readonly started?: LogIndex;
  readonly ended?: LogIndex;
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
  /** The log index of the entry. */
  readonly index?: LogIndex;
  readonly type: NoteType;
  /** For programs: "scaled_up", "updated", "node_lost". */
  readonly kind: string;
  readonly attempt: Attempt;
  /** One sentence. */
  readonly text: string;
  /** The first few. */
  readonly nodes?: readonly NodeId[];
}

export type NoteType = "state" | "decision" | "failure" | "scaling" | "preemption";

interface PastRefusal {
  readonly at: Instant;
  /** The log index of the entry. */
  readonly index?: LogIndex;
  /** Of the plan: the last entry that the scheduler had seen. */
  readonly basis: LogIndex;
  /** Of the refusal. */
  readonly code: string;
  readonly detail: string;
}

export interface Past {
  readonly attempts: readonly PastAttempt[];
  readonly refusals: readonly PastRefusal[];
  /** Default: none. */
  readonly notes?: readonly PastNote[];
  /** Missing while nothing was dropped. */
  readonly cut?: DroppedHistory;
}

/** The history that was dropped. */
export interface DroppedHistory {
  /** Attempts, refusals and notes together. */
  readonly count: number;
  /** The newest log entry with dropped history: a reader that stopped before it has missed something. */
  readonly through: LogIndex;
}
