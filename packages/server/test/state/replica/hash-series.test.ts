// Every server records its state hash at the same entries, so that hashes can be compared.

import { createState, type State } from "@lattice/core";
import { describe, expect, test } from "vitest";
import { HashSeries } from "../../../src/state/replica/hash-series.ts";
import { createTestClock } from "../../base/clock.ts";

function rig() {
  const clock = createTestClock();
  const state: State = createState();
  const series = new HashSeries(state, clock);
  const entry = (index: number, at: number): void => {
    const before = state.at;
    Object.assign(state, { index, at });
    series.applied(before);
  };
  return { clock, series, entry, indexes: () => series.marks().map(({ index }) => index) };
}

describe("the series of state hashes", () => {
  test("has the first entry of each second of the log", () => {
    const { entry, indexes } = rig();
    for (const [index, at] of [10_000, 10_400, 10_999, 11_000, 11_001, 13_500].entries()) entry(index + 1, at);
    expect(indexes()).toEqual([1, 4, 6]);
  });

  test("has the entry at which the log comes to rest, once", async () => {
    const { clock, entry, indexes } = rig();
    entry(1, 10_000);
    entry(2, 10_100);
    await clock.advance(600);
    entry(3, 10_700);
    await clock.advance(600);
    expect(indexes()).toEqual([1]);
    await clock.advance(5_000);
    expect(indexes()).toEqual([1, 3]);
  });

  test("is the same on servers that applied the entries at different times", async () => {
    const [early, late] = [rig(), rig()];
    for (let index = 1; index <= 200; index += 1) early.entry(index, index * 300);
    for (let index = 1; index <= 200; index += 1) {
      late.entry(index, index * 300);
      if (index % 50 === 0) await late.clock.advance(400);
    }
    expect(late.series.marks()).toEqual(early.series.marks());
    expect(early.indexes()).toHaveLength(60);
  });

  test("differs from the entry on at which the states differ", () => {
    const [left, right] = [rig(), rig()];
    for (const each of [left, right]) each.entry(1, 1_000);
    left.entry(2, 2_000);
    right.entry(2, 2_001);
    const [a, b] = [left.series.marks(), right.series.marks()];
    expect(a.map(({ hash }, n) => hash === b[n]?.hash)).toEqual([true, false]);
  });

  test("keeps a bounded number of hashes", () => {
    const { entry, indexes } = rig();
    for (let index = 1; index <= 500; index += 1) entry(index, index * 1_000);
    expect(indexes()).toHaveLength(64);
    expect(indexes().at(-1)).toBe(500);
  });
});
