// The history of one server, in memory: what was appended can be read at once, is durable a moment later,
// and outlives the process from then on; what was under way when it died is lost, and comes again from the log.

import { type Allocation, type AllocationId, logIndex } from "@lattice/core";
import type { History } from "@lattice/server";
import type { Host } from "../world/host.ts";

export type Shelf = Map<AllocationId, Allocation>;

/** From an append until it is durable. */
const WRITE_MS = 2;

export interface ShelfHistory extends History {
  /** What `get` would find, without waiting for it. */
  knows(id: AllocationId): boolean;
}

export function shelfHistory(shelf: Shelf, host: Host): ShelfHistory {
  let last: Promise<void> = Promise.resolve();
  const waiting: Shelf = new Map();
  let through = logIndex(0);
  return {
    append(records) {
      for (const { record } of records) waiting.set(record.id, record);
      last = last.then(async () => {
        await host.wait(WRITE_MS);
        for (const { record } of records) {
          if (!shelf.has(record.id)) shelf.set(record.id, record);
          waiting.delete(record.id);
        }
      });
      return last;
    },
    waiting: () => waiting.size,
    knows: (id) => shelf.has(id) || waiting.has(id),
    get: async (id) => shelf.get(id) ?? waiting.get(id) ?? null,
    list: async () => [...new Map([...shelf, ...waiting]).values()],
    count: async () => new Set([...shelf.keys(), ...waiting.keys()]).size,
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
