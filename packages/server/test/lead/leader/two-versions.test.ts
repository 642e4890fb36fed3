// Servers of two versions on one log, with the table of a made-up next version.

import type { Command, LogIndex, TenantId, UserName } from "@lattice/core";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { EntryReader } from "../../../src/lead/commit/versions.ts";
import { createTestClock } from "../../base/clock.ts";

// Test files share one module registry, so this file loads its own copy of the programs.
const VERSIONS = "../../../../core/src/base/versions.ts";
vi.resetModules();
vi.doMock(VERSIONS, () => import("../../../../../tests/doubles/next-version.ts"));
const { decodeEntry, UNLIMITED } = await import("@lattice/core");
const { startSequencer } = await import("../../../src/lead/commit/sequencer.ts");
const { openMemoryLog } = await import("../../../src/log/memory/open.ts");
const { openReplica } = await import("../../../src/state/replica/replica.ts");
afterAll(() => {
  vi.doUnmock(VERSIONS);
  vi.resetModules();
});

const origin = { user: "root" as UserName, requestId: null, bodyHash: "" };
const newer: Command = { kind: "cluster.restore_begin", origin, restore: "backup-1" };
const tenant = (id: string): Command => ({
  kind: "tenant.create",
  origin,
  tenant: id as TenantId,
  description: "",
  quota: UNLIMITED,
  maxPreemptionClass: 10,
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function setUp(readers: () => readonly EntryReader[]) {
  const log = openMemoryLog();
  const replica = await openReplica(log, () => {});
  const leadership = await log.campaign("s1", new AbortController().signal);
  const sequencer = startSequencer({ log, replica, leadership, clock: createTestClock(), onBatch: () => {}, readers });
  closers.push(
    () => log.close(),
    () => replica.close(),
    () => sequencer.close(),
  );
  return { log, sequencer };
}

describe("the leader", () => {
  it("refuses a command that an older server cannot apply, names the server, and accepts the others", async () => {
    let others: readonly EntryReader[] = [
      { id: "s2", entryVersion: 2 },
      { id: "s3", entryVersion: 1 },
    ];
    const { sequencer, log } = await setUp(() => others);
    await expect(sequencer.propose(newer)).rejects.toMatchObject({
      problem: { code: "upgrade_unfinished", status: 409, detail: expect.stringContaining("s3 understands version 1") },
    });
    const [first] = await Promise.all([
      sequencer.propose(tenant("a")),
      expect(sequencer.propose(newer)).rejects.toThrow(),
    ]);
    expect(first.outcome.kind).toBe("accepted");
    others = [{ id: "s2", entryVersion: 2 }];
    await sequencer.propose(newer);
    await sequencer.propose(tenant("b"));
    const versions: number[] = [];
    const stop = new AbortController();
    for await (const batch of log.read(1 as LogIndex, stop.signal)) {
      versions.push(...batch.map(({ bytes }) => decodeEntry(new TextDecoder().decode(bytes)).version));
      if (versions.length >= 3) stop.abort();
    }
    expect(versions).toEqual([1, 2, 1]);
  });
});
