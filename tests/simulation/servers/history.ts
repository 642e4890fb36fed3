// The history of one server, in memory: appended records are readable at once, durable a moment later, and survive the
// process from then on. Records in flight at a crash are lost and come again from the log. A torn write leaves the
// start of its text, which the next process reads with the real codec: whole lines are kept, the torn one is dropped.

import { type Allocation, type AllocationId, logIndex } from "@lattice/core";
import { decodeLine, encodeRecord, type History, type HistoryRecord, recordOf } from "@lattice/server";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { Host } from "../world/host.ts";

/** The disk content of one server. */
export interface HistoryDisk {
  readonly records: Map<AllocationId, Allocation>;
  /** Text after the last whole write. */
  tail: Buffer;
  /** The next write is torn at this fraction of its bytes, and the server dies. */
  tear: { readonly share: number; readonly die: () => void } | null;
}

export const emptyHistoryDisk = (): HistoryDisk => ({ records: new Map(), tail: Buffer.alloc(0), tear: null });

/** Time from an append until it is durable. */
const WRITE_MS = 2;

export interface SimulatedHistory extends History {
  /** The result of `get`, without waiting. */
  knows(id: AllocationId): boolean;
}

export function simulatedHistory(
  historyDisk: HistoryDisk,
  host: Host,
  messageFaults: Pick<MessageFaults, "met">,
): SimulatedHistory {
  let last: Promise<void> = Promise.resolve();
  const waiting = new Map<AllocationId, Allocation>();
  let through = logIndex(0);
  recoverTail(historyDisk);

  async function write(records: readonly HistoryRecord[]): Promise<void> {
    await host.wait(WRITE_MS);
    if (historyDisk.tear !== null) {
      tearAt(historyDisk, records, historyDisk.tear.share);
      messageFaults.met("history_torn");
      historyDisk.tear.die();
      historyDisk.tear = null;
      return new Promise(() => undefined);
    }
    for (const { record } of records) {
      if (!historyDisk.records.has(record.id)) historyDisk.records.set(record.id, record);
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
    knows: (id) => historyDisk.records.has(id) || waiting.has(id),
    get: async (id) => historyDisk.records.get(id) ?? waiting.get(id) ?? null,
    list: async () => [...new Map([...historyDisk.records, ...waiting]).values()],
    count: async () => new Set([...historyDisk.records.keys(), ...waiting.keys()]).size,
    segments: async () => [],
    verify: async () => [],
    flush: () => last,
    // Filling gaps is tested on real servers.
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

function tearAt(historyDisk: HistoryDisk, records: readonly HistoryRecord[], share: number): void {
  const text = Buffer.from(
    records.map(({ index, record }) => encodeRecord(index, JSON.stringify(record))).join(""),
    "utf8",
  );
  // Never whole: its last line break is the last byte written.
  historyDisk.tail = text.subarray(0, Math.floor(share * text.length));
}

function recoverTail(historyDisk: HistoryDisk): void {
  const { tail, records } = historyDisk;
  let start = 0;
  for (let end = tail.indexOf(10); end >= 0; end = tail.indexOf(10, start)) {
    const head = decodeLine(tail.subarray(start, end));
    start = end + 1;
    if (head === null || head.kind !== "record") continue;
    const record = JSON.parse(recordOf(head).json) as Allocation;
    if (!records.has(record.id)) records.set(record.id, record);
  }
  historyDisk.tail = Buffer.alloc(0);
}
