// The messages between the server's thread and the history thread. Records travel as JSON text: the thread stores the
// text as it is, and only the server's thread parses it.

import type { AllocationId } from "@lattice/core";
import type { HistoryErrorCode } from "./history-error.ts";

/** A record with the columns of the index. */
export interface RecordRow {
  /** Index of the entry that moved it into history. */
  readonly index: number;
  readonly id: AllocationId;
  readonly user: string;
  readonly tenant: string;
  readonly vcluster: string;
  readonly name: string;
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly submitted: number;
  readonly ended: number;
  readonly json: string;
}

export interface RowQuery {
  readonly user?: string;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly name?: string;
  readonly states?: readonly string[];
  /** Ids below this one, newest first. */
  readonly before?: AllocationId;
  /** Excludes the elements of task groups. */
  readonly whole?: boolean;
  /**
   * Milliseconds since 1970: records that ended at or after `endedFrom` and were submitted before `submittedBefore`.
   */
  readonly endedFrom?: number;
  readonly submittedBefore?: number;
  readonly limit: number;
}

/** Records by the entry that archived them. */
export interface RangeQuery {
  /** After this entry; or, with `from`, after that record of this entry. */
  readonly after: number;
  readonly from: AllocationId | null;
  /** Up to and including this entry. */
  readonly through: number;
  readonly limit: number;
}

/** A record as the segments hold it. */
export interface StoredRecord {
  readonly index: number;
  readonly json: string;
}

export interface SegmentInfo {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  /** Of the whole file up to its last line; `null` while the segment is open. */
  readonly sha256: string | null;
}

export interface WorkerSetup {
  readonly dir: string;
  readonly segmentBytes: number;
}

export interface Operations {
  append(rows: readonly RecordRow[]): void;
  get(id: string): string | null;
  list(query: RowQuery): readonly string[];
  /** Returns the next records of a range, as many as fit one message. Throws when one of them is damaged. */
  range(query: RangeQuery): readonly StoredRecord[];
  count(): number;
  /** Returns the recorded progress; `null` for a history that counts as complete. */
  kept(): number | null;
  /** Records durably up to which entry nothing is missing. */
  mark(through: number): void;
  segments(): readonly SegmentInfo[];
  /** Verifies every closed segment; returns a description of each problem. */
  verify(): readonly string[];
  close(): void;
}

export type OperationName = keyof Operations;

export interface Request {
  readonly call: number;
  readonly name: OperationName;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly kind: "ready" }
  | { readonly kind: "warning"; readonly text: string }
  | { readonly kind: "done"; readonly call: number; readonly result: unknown }
  | {
      readonly kind: "failed";
      readonly call: number | null;
      readonly code: HistoryErrorCode;
      readonly message: string;
    };
