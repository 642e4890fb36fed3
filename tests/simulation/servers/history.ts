// The history of one server, in memory: what was appended can be read at once, is durable a moment later,
// and outlives the process from then on; what was under way when it died is lost, and comes again from the log.
// A write that is cut short leaves the beginning of its text, which the next life reads back with the real
// codec: whole lines are kept, the torn one is cut off.

import { type Allocation, type AllocationId, logIndex } from "@lattice/core";
import { decodeLine, encodeRecord, type History, type HistoryRecord, recordOf } from "@lattice/server";
import type { Odds } from "../faults/odds.ts";
import type { Host } from "../world/host.ts";

/** What is on the disk of one server. */
export interface Shelf {
  readonly records: Map<AllocationId, Allocation>;
  /** Text behind the last whole write. */
  tail: Buffer;
  /** The next write is cut short at this share of its bytes, and the server dies of it. */
  tear: { readonly share: number; readonly die: () => void } | null;
}

export const emptyShelf = (): Shelf => ({ records: new Map(), tail: Buffer.alloc(0), tear: null });

/** From an append until it is durable. */
const WRITE_MS = 2;

export interface ShelfHistory extends History {
  /** What `get` would find, without waiting for it. */
  knows(id: AllocationId): boolean;
}

export function shelfHistory(shelf: Shelf, host: Host, odds: Pick<Odds, "met">): ShelfHistory {
  let last: Promise<void> = Promise.resolve();
  const waiting = new Map<AllocationId, Allocation>();
  let through = logIndex(0);
  recoverTail(shelf);

  async function write(records: readonly HistoryRecord[]): Promise<void> {
    await host.wait(WRITE_MS);
    if (shelf.tear !== null) {
      tearAt(shelf, records, shelf.tear.share);
      odds.met("history_torn");
      shelf.tear.die();
      shelf.tear = null;
      return new Promise(() => undefined);
    }
    for (const { record } of records) {
      if (!shelf.records.has(record.id)) shelf.records.set(record.id, record);
      waiting.delete(record.id);
    }
  }

  return {
    append(records) {
      for (const { record } of records) waiting.set(record.id, record);
      last = last.then(() => write(records));
      return last;
    },
    waiting: () => waiting.size,
    knows: (id) => shelf.records.has(id) || waiting.has(id),
    get: async (id) => shelf.records.get(id) ?? waiting.get(id) ?? null,
    list: async () => [...new Map([...shelf.records, ...waiting]).values()],
    count: async () => new Set([...shelf.records.keys(), ...waiting.keys()]).size,
    segments: async () => [],
    verify: async () => [],
    flush: () => last,
    // Who has gaps, and how they are closed, is tried on real servers.
    begin: () => undefined,
    applied(index) {
      through = index;
    },
    through: () => through,
    gap: () => null,
    fill: async () => undefined,
    async *range() {},
    close: async () => undefined,
  };
}

function tearAt(shelf: Shelf, records: readonly HistoryRecord[], share: number): void {
  const text = Buffer.from(
    records.map(({ index, record }) => encodeRecord(index, JSON.stringify(record))).join(""),
    "utf8",
  );
  // Never whole: its last line break is the last byte to be written.
  shelf.tail = text.subarray(0, Math.floor(share * text.length));
}

function recoverTail(shelf: Shelf): void {
  const { tail, records } = shelf;
  let start = 0;
  for (let end = tail.indexOf(10); end >= 0; end = tail.indexOf(10, start)) {
    const head = decodeLine(tail.subarray(start, end));
    start = end + 1;
    if (head === null || head.kind !== "record") continue;
    const record = JSON.parse(recordOf(head).json) as Allocation;
    if (!records.has(record.id)) records.set(record.id, record);
  }
  shelf.tail = Buffer.alloc(0);
}
