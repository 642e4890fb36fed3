// What an allocation has been through before its present phase: attempts that were given up, placements that were
// refused, and whatever else happened. All is kept in the record itself, so that its stream of events is the same on every
// server, outlives restarts, and goes into the history with it. The newest are kept, up to a bound, and what is cut
// is counted; a plain allocation that runs once carries nothing. Each knows the entry that brought it, so that a place in
// the stream stays the same for good.

import type { Attempt, Instant, LogIndex, NodeId } from "../ids.ts";
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
  /** Absent: of an earlier version. */
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
  /** Of the entry; absent: of an earlier version. */
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

export interface PastRefusal {
  readonly at: Instant;
  /** Of the entry; absent: of an earlier version. */
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
  /** Absent: none. */
  readonly notes?: readonly PastNote[];
  /** Absent: nothing was cut. */
  readonly cut?: Cut;
}

/** What is no longer kept. */
export interface Cut {
  /** Attempts, refusals and notes together. */
  readonly count: number;
  /** The newest entry that something of was cut: whoever has seen less than all of it has missed something. */
  readonly through: LogIndex;
}
