// Opens history: finished allocations in immutable, checksummed segments with an index over them.
// The work is done in a thread of its own, so the server's event loop never waits for a disk here;
// appends made while one is under way go down together. What has been appended can be read at once,
// written or not: an id that the server has given never becomes unknown on its way here.

import { type Allocation, type AllocationId, compareAllocationIds, type LogIndex } from "@lattice/core";
import type { HistoryQuery } from "../api/control-plane.ts";
import { HistoryError } from "./history-error.ts";
import type { RecordRow, RowQuery, SegmentInfo } from "./messages.ts";
import { createWorkerLink } from "./worker-link.ts";
import { createWriteQueue } from "./write-queue.ts";

const SEGMENT_BYTES = 16 * 1024 * 1024;
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
   * the records are kept in memory and tried again with the next append or flush; none is ever dropped.
   */
  append(records: readonly HistoryRecord[]): Promise<void>;
  /** How many records have been appended and are not durable yet. */
  waiting(): number;
  get(id: AllocationId): Promise<Allocation | null>;
  /** Newest first. */
  list(query: HistoryQuery): Promise<readonly Allocation[]>;
  /** Of those that are durable. */
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

export async function openHistory(options: HistoryOptions): Promise<History> {
  const { dir, segmentBytes = SEGMENT_BYTES, onWarning = () => undefined } = options;
  const link = createWorkerLink({ dir, segmentBytes }, onWarning);
  await link.ready();
  const queue = createWriteQueue((rows) => link.call("append", rows));
  let closed = false;

  const append = (records: readonly HistoryRecord[]): Promise<void> => {
    if (closed) return Promise.reject(new HistoryError("closed", "history is closed"));
    return queue.add(records.map(rowOf));
  };

  return {
    append,
    waiting: queue.size,
    async get(id) {
      // The queue first: what leaves it meanwhile is on disk by then.
      const json = queue.find(id)?.json ?? (await link.call("get", id));
      return json === null ? null : parse(json);
    },
    async list(given) {
      const query = rowQuery(given);
      const unwritten = queue.matching(query).map((row) => row.json);
      const written = await link.call("list", query);
      return newestFirst([...unwritten, ...written].map(parse)).slice(0, query.limit);
    },
    count: () => link.call("count"),
    segments: () => link.call("segments"),
    verify: () => link.call("verify"),
    flush: () => append([]),
    async close() {
      if (closed) return;
      const last = append([]);
      closed = true;
      await last.catch(() =>
        onWarning(`${queue.size()} of the records of history are not written; the log still has them`),
      );
      await queue.idle();
      await link.close();
    },
  };
}

const parse = (json: string): Allocation => JSON.parse(json) as Allocation;

/** A record that was written while it was asked for comes from both sides. */
function newestFirst(records: readonly Allocation[]): readonly Allocation[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return [...byId.values()].sort((a, b) => compareAllocationIds(b.id, a.id));
}

function rowOf({ index, record }: HistoryRecord): RecordRow {
  const { id, user, spec, phase } = record;
  const { tenant, vcluster, name } = spec;
  return { index, id, user, tenant, vcluster, name, state: phase.kind, json: JSON.stringify(record) };
}

function rowQuery(query: HistoryQuery): RowQuery {
  return { ...query, limit: Math.min(Math.max(query.limit, 0), MAX_LIMIT) };
}
