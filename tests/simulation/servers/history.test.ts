// A record that leaves the live state can be read from the first moment on, as with the real history; a
// crash before it was written loses it there, and only there.

import type { Allocation, AllocationId } from "@lattice/core";
import { expect, test } from "vitest";
import { turn } from "../world/guard.ts";
import { createHost } from "../world/host.ts";
import { createWorld } from "../world/world.ts";
import { type Shelf, shelfHistory } from "./history.ts";

const ID = "7" as AllocationId;
const record = { id: ID } as Allocation;

function open() {
  const world = createWorld({ seed: 1, turn, onNote: null });
  const shelf: Shelf = new Map();
  const host = createHost(world, "s1#1");
  return { world, shelf, host, history: shelfHistory(shelf, host) };
}

test("what was appended is known before it is durable, and stays", async () => {
  const { world, shelf, history } = open();
  void history.append([{ record, index: 1 as never }]);
  expect(history.knows(ID)).toBe(true);
  expect(await history.get(ID)).toBe(record);
  expect(await history.count()).toBe(1);
  expect(shelf.size).toBe(0);
  await world.runUntil(10);
  expect([shelf.has(ID), history.knows(ID), history.waiting()]).toEqual([true, true, 0]);
});

test("what was under way when the process died is on no shelf, and unknown to its next life", async () => {
  const { world, shelf, host, history } = open();
  void history.append([{ record, index: 1 as never }]);
  host.kill();
  await world.runUntil(10);
  expect(shelf.size).toBe(0);
  expect(shelfHistory(shelf, createHost(world, "s1#2")).knows(ID)).toBe(false);
});
