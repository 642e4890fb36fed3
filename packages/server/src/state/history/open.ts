// Opens the history: finished allocations in immutable, checksummed segments with an index over them. A thread of its
// own does the work, so the server's event loop never waits for this disk; appends that arrive meanwhile are written
// together. An appended record is readable at once, so a known id never becomes unknown.

import { type Allocation, type AllocationId, compareAllocationIds, type LogIndex, logIndex } from "@lattice/core";
import { createCoverage, type HistoryGap } from "./coverage.ts";
import { HistoryError } from "./history-error.ts";
import type { RangeQuery, RecordRow, RowQuery, SegmentInfo, StoredRecord } from "./messages.ts";
import { rowOfText } from "./recover.ts";
import { createWorkerLink } from "./worker-link.ts";
import { createWriteQueue } from "./write-queue.ts";

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Records in one answer. */
const MAX_LIMIT = 10_000;
/** Records in one page of a range; its bytes are limited as well. */
const RANGE_LIMIT = 500;

export interface HistoryRecord {
  /** The entry that moved the record into the history. */
  readonly index: LogIndex;
  readonly record: Allocation;
}

export interface History {
  /**
   * Durable when it resolves. A record with a known id is ignored. When it rejects, the records stay in memory and
   * are retried with the next append or flush; none is ever dropped.
   */
  append(records: readonly HistoryRecord[]): Promise<void>;
  /** Number of appended records that are not durable yet. */
  waiting(): number;
  get(id: AllocationId): Promise<Allocation | null>;
  /** Newest first. */
  list(query: RowQuery): Promise<readonly Allocation[]>;
  /** Number of durable records. */
  count(): Promise<number>;
  /** For snapshots and backups. Closed segments never change. */
  segments(): Promise<readonly SegmentInfo[]>;
  /** Verifies every closed segment; returns a description of each problem. */
  verify(): Promise<readonly string[]>;
  /**
   * Resolves when everything appended so far is durable, rejects when some of it is not. Await it before a snapshot:
   * the truncated log is the only other place with these records.
   */
  flush(): Promise<void>;
  /** The state contains everything up to this entry. Called once. */
  begin(at: LogIndex): void;
  /** Returns the entry up to which everything archived is durable. */
  applied(index: LogIndex): void;
  /** Everything that entries up to this one archived is durable here. */
  through(): LogIndex;
  /** Returns the gap from while this server was down; `null` when nothing is missing. */
  gap(): HistoryGap | null;
  /**
   * Adds records of another server, as it stored them. `through` is the entry up to which they close the gap; `null`
   * when they may be incomplete. Durable when it resolves.
   */
  fill(records: readonly StoredRecord[], through: LogIndex | null): Promise<void>;
  /** Yields the records archived after `after` up to `through`, in order, page by page. */
  range(after: LogIndex, through: LogIndex): AsyncIterable<readonly StoredRecord[]>;
  close(): Promise<void>;
}

export interface HistoryOptions {
  readonly dir: string;
  readonly segmentBytes?: number;
  readonly onWarning?: (text: string) => void;
  /** There is no other server to fetch from: the history counts as complete. */
  readonly alone?: boolean;
}

export async function openHistory(options: HistoryOptions): Promise<History> {
  const { dir, segmentBytes = SEGMENT_BYTES, onWarning = () => undefined, alone = false } = options;
  const link = createWorkerLink({ dir, segmentBytes }, onWarning);
  await link.ready();
  const queue = createWriteQueue((rows) => link.call("append", rows));
  const kept = await link.call("kept");
  const wholeness = createCoverage(alone ? null : kept);
  const marks = createProgressWriter(kept, wholeness.through, {
    flush: () => queue.add([]),
    write: (through) => link.call("mark", through),
  });
  let closed = false;

  const append = (records: readonly HistoryRecord[]): Promise<void> => {
    if (closed) return Promise.reject(new HistoryError("closed", "history is closed"));
    return queue.add(records.map(rowOf));
  };

  return {
    append,
    waiting: queue.size,
    async get(id) {
      // The queue first: a record that leaves it meanwhile is on disk by then.
      const json = queue.find(id)?.json ?? (await link.call("get", id));
      return json === null ? null : parse(json);
    },
    async list(requested) {
      const query = limited(requested);
      const unwritten = queue.matching(query).map((row) => row.json);
      const written = await link.call("list", query);
      return newestFirst([...unwritten, ...written].map(parse)).slice(0, query.limit);
    },
    count: () => link.call("count"),
    segments: () => link.call("segments"),
    verify: () => link.call("verify"),
    async flush() {
      if (closed) throw new HistoryError("closed", "history is closed");
      await marks.now();
    },
    begin: wholeness.begin,
    applied(index) {
      wholeness.applied(index);
      if (!closed) marks.soon();
    },
    through: () => logIndex(queue.size() === 0 ? wholeness.through() : marks.flushed()),
    gap: wholeness.gap,
    async fill(records, through) {
      if (closed) throw new HistoryError("closed", "history is closed");
      await queue.add(records.map(rowOfText));
      if (through === null) return;
      wholeness.filled(through);
      await marks.now();
    },
    async *range(after, through) {
      let query: RangeQuery = { after, from: null, through, limit: RANGE_LIMIT };
      for (;;) {
        const page = await link.call("range", query);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        query = { ...query, after: last.index, from: parse(last.json).id };
      }
    },
    async close() {
      if (closed) return;
      const last = marks.now();
      closed = true;
      await last.catch(() => onWarning(`${queue.size()} history records not written; the log still has them`));
      await queue.idle();
      await link.close();
    },
  };
}

const parse = (json: string): Allocation => JSON.parse(json) as Allocation;

/** A record written during the query comes from both sides. */
function newestFirst(records: readonly Allocation[]): readonly Allocation[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return [...byId.values()].sort((a, b) => compareAllocationIds(b.id, a.id));
}

function rowOf({ index, record }: HistoryRecord): RecordRow {
  const { id, user, spec, phase, submittedAt: submitted } = record;
  const { tenant, vcluster, name } = spec;
  const about = { user, tenant, vcluster, name, state: phase.kind, submitted, ended: endOf(phase) };
  return { index, id, ...about, json: JSON.stringify(record) };
}

const endOf = (phase: object): number => ("endedAt" in phase && typeof phase.endedAt === "number" ? phase.endedAt : 0);

function limited(query: RowQuery): RowQuery {
  return { ...query, limit: Math.min(Math.max(query.limit, 0), MAX_LIMIT) };
}

/** Entries between two writes: the most that a restarted server requests again. */
const EVERY = 256;

interface ProgressWriter {
  /** Resolves when everything added is durable and the file shows it. */
  now(): Promise<void>;
  /** Writes in the background, when enough entries have passed. */
  soon(): void;
  /** Returns the entry up to which everything is durable. */
  flushed(): number;
}

interface Writing {
  /** Resolves when everything added so far is durable. */
  readonly flush: () => Promise<void>;
  readonly write: (through: number) => Promise<void>;
}

function createProgressWriter(kept: number | null, through: () => number, { flush, write }: Writing): ProgressWriter {
  let marked = kept;
  let flushed = kept ?? 0;
  let last: Promise<void> = Promise.resolve();
  let underWay = 0;

  const mark = async (): Promise<void> => {
    const upTo = through();
    await flush();
    flushed = Math.max(flushed, upTo);
    if (upTo === marked) return;
    await write(upTo);
    marked = upTo;
  };

  /** One after the other, so that an older value never replaces a newer one. */
  const now = (): Promise<void> => {
    underWay += 1;
    const turn = last.then(mark);
    last = turn
      .catch(() => undefined)
      .then(() => {
        underWay -= 1;
      });
    return turn;
  };

  return {
    now,
    soon() {
      if (underWay > 0 || through() - (marked ?? -EVERY) < EVERY) return;
      // The records stay in memory and are retried; the next flush reports the error.
      now().catch(() => undefined);
    },
    flushed: () => flushed,
  };
}
