// The history thread: answers one request after the other, and in between verifies closed segments, one at a time, so
// that damage is reported before a record is needed.

import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { type Database, loadSqlite } from "./database.ts";
import { asHistoryError, HistoryError } from "./history-error.ts";
import { decodeLine, recordOf } from "./line.ts";
import type { Operations, RecordRow, Reply, Request, SegmentInfo, StoredRecord, WorkerSetup } from "./messages.ts";
import { readProgress, writeProgress } from "./progress-file.ts";
import { openRecordIndex, type RecordIndex, type RecordPosition } from "./record-index.ts";
import { indexMismatch, recoverHistory } from "./recover.ts";
import { checkClosed, segmentName, segmentPath } from "./segment-file.ts";
import { type OpenSegment, openSegmentWriter } from "./segment-writer.ts";

/** Pause between two segments, so that verification takes a small part of one core. */
const REST_MS = 250;

const port = parentPort;
if (port === null) throw new Error("history/worker.ts runs as a thread of the server");

const post = (reply: Reply): void => port.postMessage(reply);
const warn = (text: string): void => post({ kind: "warning", text });

try {
  const store = await openHistoryStore(workerData as WorkerSetup, warn);
  port.on("message", (request: Request) => answer(store, request));
  post({ kind: "ready" });
  sweep(store, [...store.closedSegments()]);
} catch (cause) {
  const error = asHistoryError(cause);
  post({ kind: "failed", call: null, code: error.code, message: error.message });
}

function answer(store: HistoryStore, { call, name, args }: Request): void {
  try {
    const operation = store[name] as (...args: readonly unknown[]) => unknown;
    post({ kind: "done", call, result: operation(...args) });
  } catch (cause) {
    const error = asHistoryError(cause);
    post({ kind: "failed", call, code: error.code, message: error.message });
  }
}

function sweep(store: HistoryStore, numbers: number[]): void {
  const number = numbers.shift();
  if (number === undefined) return;
  const timer = setTimeout(() => {
    const problem = store.check(number);
    if (problem !== null) warn(problem);
    sweep(store, numbers);
  }, REST_MS);
  timer.unref();
}

/** Bytes of records in one answer to another server, far below the limit of a message. */
const RANGE_BYTES = 1024 * 1024;

interface HistoryStore extends Operations {
  /** Numbers of the closed segments, for verification one by one. */
  closedSegments(): readonly number[];
  /** Returns what is wrong with a closed segment, or `null`. */
  check(number: number): string | null;
}

async function openHistoryStore(setup: WorkerSetup, onWarning: (text: string) => void): Promise<HistoryStore> {
  const { dir, segmentBytes } = setup;
  const kept = readProgress(dir, onWarning);
  const { index, open } = await openRecovered(dir, onWarning);
  const writer = openSegmentWriter(dir, segmentBytes, open);

  const read = (position: RecordPosition, fd: number): StoredRecord => {
    const line = Buffer.alloc(position.bytes);
    const got = readSync(fd, line, 0, position.bytes, position.offset);
    const head = got === position.bytes ? decodeLine(line) : null;
    if (head === null || head.kind !== "record") {
      const where = `${segmentPath(dir, position.segment)}: the record at offset ${position.offset}`;
      throw new HistoryError("corrupt", `${where} does not match its checksum`);
    }
    return recordOf(head);
  };

  const readAll = (
    positions: readonly RecordPosition[],
    each: (read: () => StoredRecord) => readonly StoredRecord[],
  ): readonly StoredRecord[] => {
    const open = new Map<number, number>();
    try {
      return positions.flatMap((position) => {
        const fd = open.get(position.segment) ?? openSync(segmentPath(dir, position.segment), "r");
        open.set(position.segment, fd);
        return each(() => read(position, fd));
      });
    } finally {
      for (const fd of open.values()) closeSync(fd);
    }
  };

  const segments = (): readonly SegmentInfo[] => {
    const closed = index.closed().map(({ number, bytes, records, sha256 }) => ({
      name: segmentName(number),
      path: segmentPath(dir, number),
      bytes,
      records,
      sha256,
    }));
    const { number, bytes, records } = writer.current();
    if (bytes === 0) return closed;
    return [...closed, { name: segmentName(number), path: segmentPath(dir, number), bytes, records, sha256: null }];
  };

  const closedSegments = (): readonly number[] => index.closed().map((segment) => segment.number);
  const check = (number: number): string | null => {
    try {
      return checkClosed(segmentPath(dir, number));
    } catch (cause) {
      return `${segmentPath(dir, number)}: ${cause instanceof Error ? cause.message : String(cause)}`;
    }
  };

  return {
    append(rows) {
      const fresh = withoutKnown(rows, index);
      if (fresh.length === 0) return;
      writer.rotate((closed) => index.add([], closed));
      writer.append(fresh, (written) => index.add(written));
    },
    get(id) {
      const position = index.find(id);
      if (position === null) return null;
      const fd = openSync(segmentPath(dir, position.segment), "r");
      try {
        return read(position, fd).json;
      } finally {
        closeSync(fd);
      }
    },
    list: (query) => readAll(index.list(query), (work) => readOrReport(work, onWarning)).map(({ json }) => json),
    range: (query) => readAll(firstBytes(index.range(query)), (work) => [work()]),
    kept: () => kept,
    mark: (through) => writeProgress(dir, through),
    count: () => index.count(),
    segments,
    closedSegments,
    check,
    verify: () => closedSegments().flatMap((number) => check(number) ?? []),
    close() {
      writer.close();
      index.close();
    },
  };
}

interface Recovered {
  readonly index: RecordIndex;
  readonly open: OpenSegment;
}

/** On a full disk the index is built in memory, so that records can be read; the next start writes it again. */
async function openRecovered(dir: string, onWarning: (text: string) => void): Promise<Recovered> {
  try {
    const index = await openIndex(dir, onWarning);
    return { index, open: recoverHistory(dir, index, onWarning) };
  } catch (cause) {
    const { code, message } = asHistoryError(cause);
    if (code !== "storage_full") throw cause;
    onWarning(`${dir}: history index kept in memory: ${message}`);
    const { DatabaseSync } = await loadSqlite();
    const index = openRecordIndex(new DatabaseSync(":memory:"));
    return { index, open: recoverHistory(dir, index, onWarning) };
  }
}

/** An unreadable or foreign index is rebuilt: it has no data of its own. */
async function openIndex(dir: string, onWarning: (text: string) => void): Promise<RecordIndex> {
  const { DatabaseSync } = await loadSqlite();
  const path = join(dir, "index.db");
  let database: Database | null = null;
  try {
    database = new DatabaseSync(path);
    const index = openRecordIndex(database);
    const mismatch = indexMismatch(dir, index);
    if (mismatch === null) return index;
    onWarning(`${path}: history index rebuilt from the segments: ${mismatch}`);
  } catch (cause) {
    if (asHistoryError(cause).code === "storage_full") {
      database?.close();
      throw cause;
    }
    onWarning(
      `${path}: history index rebuilt from the segments: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
  database?.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
  return openRecordIndex(new DatabaseSync(path));
}

/** Replays after a crash repeat records; the first one stored wins. */
function withoutKnown(rows: readonly RecordRow[], index: RecordIndex): readonly RecordRow[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    if (seen.has(row.id) || index.has(row.id)) return false;
    seen.add(row.id);
    return true;
  });
}

/** As many as fit one message; at least one. */
function firstBytes(positions: readonly RecordPosition[]): readonly RecordPosition[] {
  let bytes = 0;
  return positions.filter((position, n) => {
    bytes += position.bytes;
    return n === 0 || bytes <= RANGE_BYTES;
  });
}

/** One damaged record must not hide the rest of a list. */
function readOrReport(read: () => StoredRecord, onWarning: (text: string) => void): readonly StoredRecord[] {
  try {
    return [read()];
  } catch (cause) {
    onWarning(cause instanceof Error ? cause.message : String(cause));
    return [];
  }
}
