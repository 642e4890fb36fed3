// The history of one server, in memory: what was appended is durable a moment later and outlives the
// process; what was under way when it died is lost, and comes again from the log.

import { type Allocation, type AllocationId, logIndex } from "@lattice/core";
import type { History } from "@lattice/server";
import type { Host } from "../world/host.ts";

export type Shelf = Map<AllocationId, Allocation>;

export function shelfHistory(shelf: Shelf, host: Host): History {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  let through = logIndex(0);
  return {
    append(records) {
      waiting += records.length;
      last = last.then(async () => {
        await host.wait(2);
        for (const { record } of records) if (!shelf.has(record.id)) shelf.set(record.id, record);
        waiting -= records.length;
      });
      return last;
    },
    waiting: () => waiting,
    get: async (id) => shelf.get(id) ?? null,
    list: async () => [...shelf.values()],
    count: async () => shelf.size,
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
