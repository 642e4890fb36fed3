// What passes between the server's thread and the history thread. Records travel as JSON text: the
// thread stores that text as it is, and only the asking side ever parses it.

import type { AllocationId } from "@lattice/core";
import type { HistoryErrorCode } from "./history-error.ts";

/** What the index knows of a record, beside its text. */
export interface RecordRow {
  /** Index of the entry that moved it into history. */
  readonly index: number;
  readonly id: AllocationId;
  readonly user: string;
  readonly tenant: string;
  readonly vcluster: string;
  readonly name: string;
  readonly state: string;
  readonly json: string;
}

export interface RowQuery {
  readonly user?: string;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly name?: string;
  readonly states?: readonly string[];
  readonly before?: AllocationId;
  readonly limit: number;
}

export interface SegmentInfo {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  /** Of the whole file up to its last line; null while it is still written. */
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
  count(): number;
  segments(): readonly SegmentInfo[];
  /** Reads every closed segment whole; what does not match, in words. */
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
