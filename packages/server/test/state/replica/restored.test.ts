// A replica serves from a snapshot at once and verifies it in the background: on a mismatch the replica fails, and its
// state cannot be saved.

import { type LogIndex, SnapshotError, type Term } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createMemoryStore, openMemoryLog } from "../../../src/log/index.ts";
import { openReplica } from "../../../src/state/replica/replica.ts";

async function saved(change: (line: string) => string) {
  const store = createMemoryStore();
  const log = openMemoryLog({ store, name: "s1", nowMs: () => 0 });
  const first = await openReplica(log, () => {});
  const { at, lines } = first.snapshot();
  await first.close();
  await log.saveSnapshot({ index: 0 as LogIndex, term: 0 as Term }, [...lines].map(change));
  expect(at.index).toBe(0);
  return log;
}

describe("a restored replica", () => {
  it("can be saved once it is verified", async () => {
    const replica = await openReplica(await saved((line) => line), () => {});
    expect(replica.isProven()).toBe(false);
    await expect.poll(() => replica.isProven()).toBe(true);
    expect([...replica.snapshot().lines].length).toBeGreaterThan(1);
    await replica.close();
  });

  it("fails when the snapshot has another state", async () => {
    const replica = await openReplica(
      await saved((line) => line.replace('"nextAllocation":1', '"nextAllocation":7')),
      () => {},
    );
    await expect(replica.failed).rejects.toThrow(SnapshotError);
    expect(replica.isProven()).toBe(false);
    expect(() => replica.snapshot()).toThrow(/cannot be saved/);
    await replica.close();
  });
});
