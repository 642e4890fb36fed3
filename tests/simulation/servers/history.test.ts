// A record that leaves the live state is readable at once, as in the real history; a crash before its write loses it
// on that server only.

import type { Allocation, AllocationId } from "@lattice/core";
import { expect, test } from "vitest";
import { turn } from "../world/guard.ts";
import { createHost } from "../world/host.ts";
import { createWorld } from "../world/world.ts";
import { emptyHistoryDisk, simulatedHistory } from "./history.ts";

const ID = "7" as AllocationId;
const record = { id: ID } as Allocation;

function open() {
  const world = createWorld({ seed: 1, turn, onNote: null });
  const historyDisk = emptyHistoryDisk();
  const host = createHost(world, "s1#1");
  return { world, historyDisk, host, history: simulatedHistory(historyDisk, host, { met: () => undefined }) };
}

test("appended records are readable before they are durable, and stay", async () => {
  const { world, historyDisk, history } = open();
  void history.append([{ record, index: 1 as never }]);
  expect(history.knows(ID)).toBe(true);
  expect(await history.get(ID)).toBe(record);
  expect(await history.count()).toBe(1);
  expect(historyDisk.records.size).toBe(0);
  await world.runUntil(10);
  expect([historyDisk.records.has(ID), history.knows(ID), history.waiting()]).toEqual([true, true, 0]);
});

test("records in flight at a crash are lost to the next life", async () => {
  const { world, historyDisk, host, history } = open();
  void history.append([{ record, index: 1 as never }]);
  host.kill();
  await world.runUntil(10);
  expect(historyDisk.records.size).toBe(0);
  expect(simulatedHistory(historyDisk, createHost(world, "s1#2"), { met: () => undefined }).knows(ID)).toBe(false);
});

test("a torn write keeps whole records and drops the torn one", async () => {
  const { world, historyDisk, host, history } = open();
  historyDisk.tear = { share: 0.7, die: host.kill };
  void history.append(["7", "8"].map((id) => ({ record: { id } as Allocation, index: 1 as never })));
  await world.runUntil(10);
  expect([historyDisk.records.size, host.alive()]).toEqual([0, false]);
  const next = simulatedHistory(historyDisk, createHost(world, "s1#2"), { met: () => undefined });
  expect([next.knows("7" as AllocationId), next.knows("8" as AllocationId)]).toEqual([true, false]);
});
