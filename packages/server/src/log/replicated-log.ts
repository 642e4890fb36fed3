// The contract between the control plane and whatever stores its log. One engine is chosen at
// start (`memory`, `embedded`, `etcd`); nothing above this file knows which. One contract test
// runs over all engines.
//
// The log stores opaque bytes per index. Numbering, stamping and chaining are the leader's work
// (`leader/sequencer.ts`); the engine keeps order, durability and leadership. It refuses an append
// whose index is not the next one or whose author no longer leads: that is the whole of fencing.

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
  /** Aborts when the leadership is over, for whatever reason. */
  readonly lost: AbortSignal;
  /**
   * End of the log when the leadership was won; no other server can append since. Undefined when `head` must be
   * asked.
   */
  readonly endsAt?: LogIndex;
  /** Hands over at once. Asking again changes nothing. */
  resign(): Promise<void>;
}

type LogErrorCode =
  | "lost_leadership" // another leads; nothing was written
  | "wrong_index" // not the next index; nothing was written
  | "unavailable" // no quorum, or the disk refuses; nothing was written, trying again may work
  | "storage_full" // as unavailable, because there is no space
  | "too_large" // over maxEntryBytes; nothing was written
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
  /** What it says of itself, opaque to the log. */
  readonly name: string;
  readonly leader: boolean;
  readonly healthy: boolean;
}

export interface ReplicatedLog {
  /** Largest entry it takes; the sequencer splits batches below it. */
  readonly maxEntryBytes: number;

  /** Resolves when this process leads; rejects only when aborted or closed. */
  campaign(candidate: string, signal: AbortSignal): Promise<Leadership>;

  /**
   * Resolves when every entry is durable (on a majority, where there is one). Entries are
   * consecutive and the first is lastIndex + 1. All or nothing: after a rejection, none of them
   * will ever be read, not even after a crash, unless the code says `unavailable` after a network
   * failure, in which case the reader's stream tells the truth.
   */
  append(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void>;

  /**
   * All durable entries with index >= from, then new ones as they become durable, in order and
   * without gaps, in batches, until aborted. Throws `truncated` when `from` is no longer kept.
   */
  read(from: LogIndex, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;

  /** The durable end of the log, asked of a majority: a read at or after it is linearizable. */
  head(): Promise<LogIndex>;

  /** Stores a snapshot (text lines); kept: the newest five. Checksummed, visible only when whole. */
  saveSnapshot(at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>): Promise<SnapshotInfo>;
  /** The newest snapshot that verifies, or null. A corrupt one falls back to the one before. */
  loadSnapshot(): Promise<{ readonly info: SnapshotInfo; readonly lines: AsyncIterable<string> } | null>;
  /** Drops entries up to and including `through`. Never beyond the oldest kept snapshot. */
  truncate(through: LogIndex): Promise<void>;

  status(): LogStatus;
  /** Known without a call, this server included. Empty where the log is not shared. */
  present(): readonly LogServer[];
  members(): Promise<readonly LogMember[]>;
  /** Undefined where the log is not shared. */
  readonly shared?: SharedLog;
  close(): Promise<void>;
}
