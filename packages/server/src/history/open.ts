// Opens history: finished allocations in immutable, checksummed segments with an index over them.
// The work is done in a thread of its own, so the server's event loop never waits for a disk here;
// appends made while one is under way go down together.

import type { Allocation, AllocationId, LogIndex } from "@lattice/core";
import type { HistoryQuery } from "../api/control-plane.ts";
import { HistoryError } from "./history-error.ts";
import type { RecordRow, RowQuery, SegmentInfo } from "./messages.ts";
import { createWorkerLink } from "./worker-link.ts";

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Records in one transaction: a few milliseconds of the thread. */
const MAX_BATCH = 1000;
/** Records waiting for the thread; beyond, the disk is not keeping up and the caller has to know. */
const MAX_WAITING = 100_000;
/** Records in one answer. */
const MAX_LIMIT = 10_000;

export interface HistoryRecord {
  /** The entry that moved it into history. */
  readonly index: LogIndex;
  readonly record: Allocation;
}

export interface History {
  /**
   * Durable when it resolves. A record whose id is there already is left as it is. When it rejects,
   * the records are kept in memory and tried again with the next append or flush.
   */
  append(records: readonly HistoryRecord[]): Promise<void>;
  get(id: AllocationId): Promise<Allocation | null>;
  /** Newest first. */
  list(query: HistoryQuery): Promise<readonly Allocation[]>;
  count(): Promise<number>;
  /** For snapshots and backups. Closed segments never change. */
  segments(): Promise<readonly SegmentInfo[]>;
  /** Reads every closed segment whole; what does not match, in words. */
  verify(): Promise<readonly string[]>;
  /**
   * Resolves when everything appended so far is durable, rejects when some of it is not. To be
   * awaited before a snapshot: the log it lets go is the only other place these records are in.
   */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface HistoryOptions {
  readonly dir: string;
  readonly segmentBytes?: number;
  readonly onWarning?: (text: string) => void;
}

interface Waiting {
  readonly rows: readonly RecordRow[];
  resolve(): void;
  reject(cause: unknown): void;
}

export async function openHistory(options: HistoryOptions): Promise<History> {
  const { dir, segmentBytes = SEGMENT_BYTES, onWarning = () => undefined } = options;
  const link = createWorkerLink({ dir, segmentBytes }, onWarning);
  await link.ready();
  let line: Waiting[] = [];
  /** Could not be written yet; they go first with whatever comes next. */
  let unsaved: readonly RecordRow[] = [];
  let waitingRows = 0;
  let pump: Promise<void> | null = null;
  let closed = false;

  const drain = async (): Promise<void> => {
    while (line.length > 0) {
      const batch = takeBatch(line);
      line = line.slice(batch.length);
      const rows = [...unsaved, ...batch.flatMap((waiting) => waiting.rows)];
      try {
        for (let at = 0; at < rows.length; at += MAX_BATCH) await link.call("append", rows.slice(at, at + MAX_BATCH));
        unsaved = [];
        waitingRows -= rows.length;
        for (const waiting of batch) waiting.resolve();
      } catch (cause) {
        unsaved = rows;
        for (const waiting of batch) waiting.reject(cause);
      }
    }
    pump = null;
  };

  const append = (records: readonly HistoryRecord[]): Promise<void> => {
    if (closed) return Promise.reject(new HistoryError("closed", "history is closed"));
    if (waitingRows + records.length > MAX_WAITING) {
      return Promise.reject(new HistoryError("unavailable", `more than ${MAX_WAITING} records wait to be written`));
    }
    return new Promise((resolve, reject) => {
      const rows = records.map(rowOf);
      waitingRows += rows.length;
      line.push({ rows, resolve, reject });
      pump ??= drain();
    });
  };

  return {
    append,
    async get(id) {
      const json = await link.call("get", id);
      return json === null ? null : (JSON.parse(json) as Allocation);
    },
    async list(query) {
      const texts = await link.call("list", rowQuery(query));
      return texts.map((json) => JSON.parse(json) as Allocation);
    },
    count: () => link.call("count"),
    segments: () => link.call("segments"),
    verify: () => link.call("verify"),
    flush: () => append([]),
    async close() {
      if (closed) return;
      closed = true;
      await pump;
      await link.close();
    },
  };
}

/** As many appends as fit one transaction, and at least one. */
function takeBatch(line: readonly Waiting[]): readonly Waiting[] {
  let rows = 0;
  const end = line.findIndex((waiting, n) => {
    rows += waiting.rows.length;
    return n > 0 && rows > MAX_BATCH;
  });
  return end < 0 ? line : line.slice(0, end);
}

function rowOf({ index, record }: HistoryRecord): RecordRow {
  const { id, user, spec, phase } = record;
  const { tenant, vcluster, name } = spec;
  return { index, id, user, tenant, vcluster, name, state: phase.kind, json: JSON.stringify(record) };
}

function rowQuery(query: HistoryQuery): RowQuery {
  return { ...query, limit: Math.min(Math.max(query.limit, 0), MAX_LIMIT) };
}
