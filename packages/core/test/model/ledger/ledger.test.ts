// Days, amounts and budgets of the ledger: exact whole numbers, cut at midnight UTC.

import {
  type Amount,
  beginOf,
  budgetUse,
  DAY_MS,
  dayOf,
  firstKeptDay,
  instant,
  LEDGER_DAYS,
  lastDays,
  MS_PER_HOUR,
  plus,
  UNLIMITED,
  useOf,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amountOf } from "../../../src/base/amount.ts";
import { chargedSince, currentUse } from "../../../src/model/ledger/current-use.ts";
import { nodeId } from "../../support/cluster.ts";

describe("a day", () => {
  it.each([
    [0, 0],
    [DAY_MS - 1, 0],
    [DAY_MS, 1],
    [Date.UTC(2026, 0, 1), 20_454],
    [Date.UTC(2026, 0, 1) - 1, 20_453],
  ])("of the instant %i is %i", (at, day) => {
    expect(dayOf(instant(at))).toBe(day);
  });

  it("contains the instants from its beginning to the next one's", () => {
    fc.assert(
      fc.property(fc.nat({ max: 4_000_000_000_000 }), (at) => {
        const day = dayOf(instant(at));
        expect(beginOf(day)).toBeLessThanOrEqual(at);
        expect(beginOf(day + 1)).toBeGreaterThan(at);
      }),
    );
  });

  it("is kept for 90 days, today included", () => {
    const now = instant(beginOf(1000) + 5);
    expect(firstKeptDay(now)).toBe(911);
    expect(lastDays(now, LEDGER_DAYS)).toEqual({ from: 911, to: 1000, now });
  });

  it.each([
    [1, 1000],
    [7, 994],
    [0, 1000],
    [-3, 1000],
    [91, 911],
    [10_000, 911],
  ])("window of %i days begins on day %i", (days, from) => {
    expect(lastDays(instant(beginOf(1000)), days).from).toBe(from);
  });
});

describe("an amount", () => {
  const most = Number.MAX_SAFE_INTEGER;

  it("saturates at the largest exact number", () => {
    const full: Amount = { nodeMs: most, gpuMs: most - 1 };
    expect(plus(full, { nodeMs: 1, gpuMs: 1 })).toEqual({ nodeMs: most, gpuMs: most });
    expect(plus(full, { nodeMs: most, gpuMs: most })).toEqual({ nodeMs: most, gpuMs: most });
  });

  it("of a part of a node is a whole number of milliseconds", () => {
    expect(amountOf({ nodes: 1 / 1024, gpus: 1 }, 1023)).toEqual({ nodeMs: 0, gpuMs: 1023 });
    expect(amountOf({ nodes: 1 / 1024, gpus: 0 }, 1024)).toEqual({ nodeMs: 1, gpuMs: 0 });
    expect(amountOf({ nodes: 3, gpus: 12 }, 1000)).toEqual({ nodeMs: 3000, gpuMs: 12_000 });
  });
});

describe("a budget", () => {
  const spent = (nodeHours: number, gpuHours: number): Amount => ({
    nodeMs: nodeHours * MS_PER_HOUR,
    gpuMs: gpuHours * MS_PER_HOUR,
  });
  const quota = (nodeHoursBudget: number | null, gpuHoursBudget: number | null) => ({
    ...UNLIMITED,
    nodeHoursBudget,
    gpuHoursBudget,
  });

  it.each([
    [quota(null, null), spent(9, 9), null],
    [quota(10, null), spent(5, 99), 0.5],
    [quota(null, 10), spent(99, 20), 2],
    [quota(10, 10), spent(2, 5), 0.5],
    [quota(10, 10), spent(9, 5), 0.9],
    [quota(10, null), spent(10, 0), 1],
    [quota(0, null), spent(0, 0), 1],
    [quota(0, 100), spent(0, 0), 1],
  ])("of %j after %j is used up to %j", (limits, use, part) => {
    expect(budgetUse(limits, use)).toBe(part);
  });

  it("of nothing is used up from the start, and one that is not set never", () => {
    expect([useOf(0, 0), useOf(null, 5), useOf(2, MS_PER_HOUR)]).toEqual([1, null, 0.5]);
  });
});

describe("the use of an attempt", () => {
  const phase = (kind: string, more: object = {}) =>
    ({ phase: { kind, nodes: ["n1", "n2"].map(nodeId), placedAt: 5, startedAt: 10, ...more } }) as never;

  it.each([
    ["pending", null],
    ["staging", null],
    ["running", 10],
    ["checkpointing", 10],
    ["suspended", null],
    ["completed", null],
  ])("in the phase %s is charged since %j", (kind, since) => {
    expect(chargedSince(phase(kind))).toBe(since);
  });

  it("of a service that changed its size is charged since the change", () => {
    expect(chargedSince(phase("running", { countedFrom: 77 }))).toBe(77);
    expect(chargedSince(undefined)).toBeNull();
  });

  it("counts all GPUs of its nodes, one for an unknown node, and the share of a shared node", () => {
    const gpus = (node: string): number | undefined => (node === "n1" ? 4 : undefined);
    expect(currentUse(phase("running"), gpus)).toEqual({ nodes: 2, gpus: 5 });
    expect(currentUse(phase("pending"), gpus)).toEqual({ nodes: 0, gpus: 0 });
    const shared = { ...(phase("running") as object), share: { part: 256, gpuCount: 1 } } as never;
    expect(currentUse(shared, gpus)).toEqual({ nodes: 0.25, gpus: 1 });
  });
});
