// Records waiting for the disk, in order of arrival. A record stays here until it is written, whatever fails in
// between, and is readable here meanwhile. There is no limit: the replica no longer has the record, so refusing it
// would lose it. The log is not truncated while records wait here, and `size` is exported as a metric.

import { compareAllocationIds } from "@lattice/core";
import type { RecordRow, RowQuery } from "./messages.ts";

/** Records in one transaction: a few milliseconds of the thread. */
const MAX_BATCH = 1000;

interface WriteQueue {
  /**
   * Resolves when these records and all before them are durable. When it rejects, they stay here and are retried with
   * the next call.
   */
  add(rows: readonly RecordRow[]): Promise<void>;
  find(id: string): RecordRow | undefined;
  /** Returns the waiting records that match, in no order and beyond the query's limit. */
  matching(query: RowQuery): readonly RecordRow[];
  size(): number;
  /** Resolves when no write is in progress; records that could not be written may still wait. */
  idle(): Promise<void>;
}

interface Waiter {
  /** Number of records that must have been written, of all that were ever added. */
  readonly upTo: number;
  resolve(): void;
  reject(cause: unknown): void;
}

export function createWriteQueue(
  write: (rows: readonly RecordRow[]) => Promise<void>,
  maxBatch: number = MAX_BATCH,
): WriteQueue {
  /** A map keeps the order of arrival; a record that is added again while it waits is the same record. */
  const rows = new Map<string, RecordRow>();
  let added = 0;
  /** In order of arrival, and so by `upTo`. */
  const waiters: Waiter[] = [];
  let draining = false;
  let drained: Promise<void> = Promise.resolve();

  const drain = async (): Promise<void> => {
    while (waiters.length > 0) {
      const waiting = waiters.length;
      const batch = firstOf(rows, maxBatch);
      try {
        if (batch.length > 0) await write(batch);
        for (const { id } of batch) rows.delete(id);
        const written = added - rows.size;
        const later = waiters.findIndex((waiter) => waiter.upTo > written);
        for (const waiter of waiters.splice(0, later < 0 ? waiters.length : later)) waiter.resolve();
      } catch (cause) {
        // Records added during the write have not been tried yet, and are next.
        for (const waiter of waiters.splice(0, waiting)) waiter.reject(cause);
      }
    }
    // In the same step as the check of `waiters`, so that no waiter is missed.
    draining = false;
  };

  return {
    add: (more) =>
      new Promise((resolve, reject) => {
        for (const row of more) {
          if (rows.has(row.id)) continue;
          rows.set(row.id, row);
          added += 1;
        }
        waiters.push({ upTo: added, resolve, reject });
        if (draining) return;
        draining = true;
        drained = drain();
      }),
    find: (id) => rows.get(id),
    matching: (query) => [...rows.values()].filter((row) => fits(row, query)),
    size: () => rows.size,
    idle: () => drained,
  };
}

function firstOf(rows: ReadonlyMap<string, RecordRow>, limit: number): readonly RecordRow[] {
  const batch: RecordRow[] = [];
  for (const row of rows.values()) {
    if (batch.length === limit) break;
    batch.push(row);
  }
  return batch;
}

/** The same conditions as in the index. */
function fits(row: RecordRow, query: RowQuery): boolean {
  for (const column of ["user", "tenant", "vcluster", "name"] as const) {
    if (query[column] !== undefined && query[column] !== row[column]) return false;
  }
  const {
    states = [],
    before,
    endedFrom = Number.NEGATIVE_INFINITY,
    submittedBefore = Number.POSITIVE_INFINITY,
  } = query;
  if (row.ended < endedFrom || row.submitted >= submittedBefore) return false;
  if (query.whole === true && row.id.includes("_")) return false;
  if (states.length > 0 && !states.includes(row.state)) return false;
  return before === undefined || compareAllocationIds(row.id, before) < 0;
}
