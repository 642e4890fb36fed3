// The contract between the control plane and its log engine (`memory`, `embedded` or `etcd`). Nothing above this file
// knows which engine runs; one contract test runs over all of them.
//
// The log stores opaque bytes per index. The leader numbers, stamps and chains entries (`lead/commit/sequencer.ts`); the
// engine provides order, durability and leadership. Fencing: the engine refuses an append whose index is not the next one
// or whose author no longer leads.

import type { LogIndex, Term } from "@lattice/core";
import type { SharedLog } from "./shared-log.ts";

export interface StoredEntry {
  readonly index: LogIndex;
  readonly term: Term;
  readonly bytes: Uint8Array;
}

/** Held by the leader. Appends name it, and fail with `lost_leadership` once it is over. */
export interface Leadership {
  readonly term: Term;
  /** Aborts when the leadership is over, for any reason. */
  readonly lost: AbortSignal;
  /**
   * End of the log when the leadership was won; no other server can append since. Undefined when `head` must be
   * called.
   */
  readonly endsAt?: LogIndex;
  /** Hands over at once. Idempotent. */
  resign(): Promise<void>;
}

type LogErrorCode =
  | "lost_leadership" // another server leads; nothing was written
  | "wrong_index" // not the next index; nothing was written
  | "unavailable" // no quorum, or the disk refuses; nothing was written, trying again may work
  | "storage_full" // as unavailable, because there is no space
  | "too_large" // over maxEntryBytes; nothing was written
  | "log_lost" // the store does not hold the log that was followed; this handle is of no use any more
  | "truncated" // reading from before the first index kept
  | "corrupt" // a checksum does not match in the middle of the log
  | "closed";

export class LogError extends Error {
  readonly code: LogErrorCode;
  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LogError";
    this.code = code;
  }
}

export interface SnapshotInfo {
  /** The last entry folded into it. */
  readonly index: LogIndex;
  readonly term: Term;
  readonly bytes: number;
  readonly takenAtMs: number;
}

export interface LogStatus {
  readonly engine: "memory" | "embedded" | "etcd";
  readonly term: Term;
  readonly firstIndex: LogIndex;
  /** Last durable index; 0 when empty. */
  readonly lastIndex: LogIndex;
  readonly snapshot: SnapshotInfo | null;
  readonly bytes: number;
  readonly leader: string | null;
  /** `null` when writable; otherwise the reason. */
  readonly unwritable: string | null;
}

/** A connected server that shares the log. */
export interface LogServer {
  readonly id: string;
  /** Opaque text about the server. */
  readonly name: string;
}

export interface LogMember {
  readonly id: string;
  /** Opaque text about the server. */
  readonly name: string;
  readonly leader: boolean;
  readonly healthy: boolean;
}

export interface ReplicatedLog {
  /** Largest accepted entry; the sequencer splits larger batches. */
  readonly maxEntryBytes: number;

  /** Resolves when this process leads; rejects only when aborted, closed or lost. */
  campaign(candidate: string, signal: AbortSignal): Promise<Leadership>;

  /**
   * Resolves when every entry is durable (on a majority, where there is one). Entries are consecutive and the first is
   * lastIndex + 1. Atomic: after a rejection none of them is ever read, not even after a crash. After `unavailable` from
   * a network failure the outcome is unknown; the stream of entries shows it.
   */
  append(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void>;

  /**
   * All durable entries with index >= from, then new ones as they become durable, in order and
   * without gaps, in batches, until aborted. Throws `truncated` when `from` is no longer kept.
   */
  read(from: LogIndex, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;

  /** Returns the durable end of the log, confirmed by a majority: a read at or after it is linearizable. */
  head(): Promise<LogIndex>;

  /** Stores a snapshot (text lines), checksummed and visible only when complete. The newest five are kept. */
  saveSnapshot(at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>): Promise<SnapshotInfo>;
  /** Returns the newest snapshot that verifies, or `null`. */
  loadSnapshot(): Promise<{ readonly info: SnapshotInfo; readonly lines: AsyncIterable<string> } | null>;
  /** Drops entries up to and including `through`. Never beyond the oldest kept snapshot. */
  truncate(through: LogIndex): Promise<void>;

  status(): LogStatus;
  /** Known without a call, this server included. Empty when the log is not shared. */
  present(): readonly LogServer[];
  members(): Promise<readonly LogMember[]>;
  /** Undefined when the log is not shared. */
  readonly shared?: SharedLog;
  close(): Promise<void>;
}
