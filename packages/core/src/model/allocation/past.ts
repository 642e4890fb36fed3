// The history of an allocation before its current phase: ended attempts, refused placements and notes. It is part of
// the record, so that its events are the same on every server, survive restarts and move to the history with it. The
// newest items are kept up to a bound, and dropped ones are counted; an allocation that runs once has no history. Each
// item has the log index of its entry, so that positions in the event stream are stable.

import type { Attempt, Instant, LogIndex, NodeId } from "../../base/ids.ts";
import type { FailureReason } from "./phase.ts";

/** More than nearly every requeue policy allows. */
export const MAX_PAST_ATTEMPTS = 32;
/** Refusals per attempt; repeated collisions add no information. */
export const MAX_PAST_REFUSALS = 8;
/** Covers the newest days of a service that scales for weeks. */
export const MAX_PAST_NOTES = 64;
/** Notes of checkpoints, which may come every few minutes and must not push out rarer ones: 16 requests and results. */
export const MAX_PAST_CHECKPOINT_NOTES = 32;
/** Nodes named per attempt; the others are counted. */
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
  /** The next phase and its cause, for example "pending" and "node_failure". */
  readonly to: "pending" | "suspended";
  readonly cause: string;
  readonly scoreMilli: number;
  readonly backfilled: boolean;
  /** Missing when the attempt did not fail, or the failure is unknown. */
  readonly failure?: PastFailure;
  /** Why it was preempted. Missing when it was not preempted. */
  readonly why?: string;
  /** The log entries of this attempt. */
  readonly entries?: Entries;
}

/** The log entries by which an attempt was placed, started and ended, as far as it has come. */
export interface Entries {
  readonly placed?: LogIndex;
  readonly started?: LogIndex;
  readonly ended?: LogIndex;
}

/** Longest text about one attempt. */
export const MAX_PAST_WHY = 256;

export interface PastFailure {
  readonly reason: FailureReason;
  readonly exitCode: number | null;
  readonly message: string;
}

/** A note: an event other than a change of phase. */
export interface PastNote {
  readonly at: Instant;
  /** The log index of the entry. */
  readonly index: LogIndex;
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
  readonly index: LogIndex;
  /** The basis of the plan. */
  readonly basis: LogIndex;
  /** The code of the refusal. */
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
