// A record that leaves the live state can be read from the first moment on, as with the real history; a
// crash before it was written loses it there, and only there.

import type { Allocation, AllocationId } from "@lattice/core";
import { expect, test } from "vitest";
import { turn } from "../world/guard.ts";
import { createHost } from "../world/host.ts";
import { createWorld } from "../world/world.ts";
import { emptyShelf, shelfHistory } from "./history.ts";

const ID = "7" as AllocationId;
const record = { id: ID } as Allocation;

function open() {
  const world = createWorld({ seed: 1, turn, onNote: null });
  const shelf = emptyShelf();
  const host = createHost(world, "s1#1");
  return { world, shelf, host, history: shelfHistory(shelf, host, { met: () => undefined }) };
}

test("what was appended is known before it is durable, and stays", async () => {
  const { world, shelf, history } = open();
  void history.append([{ record, index: 1 as never }]);
  expect(history.knows(ID)).toBe(true);
  expect(await history.get(ID)).toBe(record);
  expect(await history.count()).toBe(1);
  expect(shelf.records.size).toBe(0);
  await world.runUntil(10);
  expect([shelf.records.has(ID), history.knows(ID), history.waiting()]).toEqual([true, true, 0]);
});

test("what was under way when the process died is on no shelf, and unknown to its next life", async () => {
  const { world, shelf, host, history } = open();
  void history.append([{ record, index: 1 as never }]);
  host.kill();
  await world.runUntil(10);
  expect(shelf.records.size).toBe(0);
  expect(shelfHistory(shelf, createHost(world, "s1#2"), { met: () => undefined }).knows(ID)).toBe(false);
});

test("of a write that was cut short the whole records are kept, and the torn one is cut off", async () => {
  const { world, shelf, host, history } = open();
  shelf.tear = { share: 0.7, die: host.kill };
  void history.append(["7", "8"].map((id) => ({ record: { id } as Allocation, index: 1 as never })));
  await world.runUntil(10);
  expect([shelf.records.size, host.alive()]).toEqual([0, false]);
  const next = shelfHistory(shelf, createHost(world, "s1#2"), { met: () => undefined });
  expect([next.knows("7" as AllocationId), next.knows("8" as AllocationId)]).toEqual([true, false]);
});
