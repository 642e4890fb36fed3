// Time slots of estimates, and the headroom of quotas by slot.

import { instant } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chargeUsage,
  createQuotaTimelines,
  hasHeadroom,
  type QuotaTimeline,
} from "../../src/explain/quota-timeline.ts";
import { createTimeSlots } from "../../src/explain/time-slots.ts";
import type { CycleInput } from "../../src/index.ts";
import { addReservation, findReservation } from "../../src/reserve/reserve.ts";
import { draftOf, jobFrom } from "../drafts.ts";
import { busy, input, job, MINUTE, NOW, release, tenant } from "../make.ts";

const slots = createTimeSlots(NOW);
const someDelay = fc.oneof(fc.nat(100_000), fc.nat(1e9), fc.nat(2 ** 40));
const never = Number.POSITIVE_INFINITY;

describe("a time slot", () => {
  it("starts where the one before ends, and is wider", () => {
    for (let slot = 1; slot < slots.count; slot += 1) {
      expect(slots.at(slot)).toBe(slots.at(slot - 1) + slots.width(slot - 1));
      if (slot > 1) expect(slots.width(slot - 1)).toBeGreaterThan(slots.width(slot - 2));
    }
    expect(slots.width(slots.count - 1)).toBe(never);
  });

  it("contains an instant exactly when it is the slot of the instant", () => {
    fc.assert(
      fc.property(someDelay, (delay) => {
        const slot = slots.of(NOW + delay);
        expect(slots.at(slot)).toBeLessThanOrEqual(NOW + delay);
        expect(slots.at(slot) + slots.width(slot)).toBeGreaterThan(NOW + delay);
        const next = slots.firstAfter(NOW + delay);
        if (next < slots.count) expect(slots.at(next)).toBeGreaterThanOrEqual(NOW + delay);
        if (next > 0) expect(slots.at(next - 1)).toBeLessThan(NOW + delay);
      }),
      { numRuns: 300 },
    );
  });

  it("of an instant in the past is the first", () => {
    expect(slots.of(NOW - 5_000)).toBe(0);
    expect(slots.firstAfter(NOW - 5_000)).toBe(0);
  });

  it("range of a job ends with the slot that it reaches into, by the part that it reaches", () => {
    fc.assert(
      fc.property(fc.nat(slots.count - 2), someDelay, (start, length) => {
        const end = slots.endOf(start, length);
        const stop = slots.at(start) + length;
        expect(end).toBeGreaterThan(start);
        if (end < slots.count) expect(slots.at(end)).toBeGreaterThanOrEqual(Math.min(stop, slots.at(end)));
        if (end - 1 > start) expect(slots.at(end - 1)).toBeLessThan(stop);
        const share = slots.lastShare(start, length);
        expect(share).toBeGreaterThan(0);
        expect(share).toBeLessThanOrEqual(1);
        if (end < slots.count && length > 1_000) {
          const reached = slots.at(end - 1) + share * slots.width(end - 1);
          expect(Math.abs(reached - stop)).toBeLessThanOrEqual(0.001 * slots.width(end - 1) + 1);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("range of an unbounded job ends after the last slot", () => {
    expect(slots.endOf(3, never)).toBe(slots.count);
    expect(slots.lastShare(3, never)).toBe(1);
  });

  it("is the first as wide as a length", () => {
    fc.assert(
      fc.property(someDelay, (length) => {
        const first = slots.firstAsWide(length);
        expect(slots.width(first)).toBeGreaterThanOrEqual(length);
        if (first > 0) expect(slots.width(first - 1)).toBeLessThan(length);
      }),
      { numRuns: 200 },
    );
  });

  it("remembers the ends of a length", () => {
    slots.endsOf(77_777)[5] = 9;
    expect(slots.endsOf(77_777)[5]).toBe(9);
    expect(slots.endsOf(77_778)[5]).toBe(0);
  });
});

describe("the headroom of a quota by slot", () => {
  const timelinesOf = (given: Partial<CycleInput>, of = "physics"): readonly QuotaTimeline[] =>
    createQuotaTimelines(input(given), draftOf(given), slots)(of);
  const nodesAt = (timeline: QuotaTimeline | undefined, minutes: number): number =>
    timeline?.nodes[slots.of(NOW + minutes * MINUTE)] as number;
  const later = [{ ...release(60, "a", "b"), tenant: tenant("physics").id }];

  it("does not exist without limits", () => {
    expect(timelinesOf({})).toEqual([]);
    expect(timelinesOf({ tenants: [tenant("physics", { maxNodes: 3 })] }, "biology")).toEqual([]);
  });

  it("grows when work of the tenant ends, and only then", () => {
    const tenants = [tenant("physics", { maxNodes: 5, nodesInUse: 4, maxConcurrentAllocations: 2, running: 1 })];
    const nodes = [busy("a"), busy("b"), busy("c")];
    const releases = [...later, { ...release(30, "c"), tenant: tenant("biology").id }];
    const [timeline] = timelinesOf({ nodes, releases, tenants });
    expect([0, 50, 70].map((minutes) => nodesAt(timeline, minutes))).toEqual([1, 1, 3]);
    expect([0, 70].map((minutes) => timeline?.allocations[slots.of(NOW + minutes * MINUTE)])).toEqual([1, 2]);
  });

  it("is without bound for the quota that is not set", () => {
    const [timeline] = timelinesOf({ tenants: [tenant("physics", { maxNodes: 5 })] });
    expect(timeline?.allocations[0]).toBe(never);
  });

  it("never grows when unbounded work holds the nodes", () => {
    const releases = [{ ...release(null, "a"), tenant: tenant("physics").id }];
    const tenants = [tenant("physics", { maxNodes: 5, nodesInUse: 5 })];
    const [timeline] = timelinesOf({ nodes: [busy("a")], releases, tenants });
    expect(timeline?.nodes.every((nodes) => nodes === 0)).toBe(true);
  });

  it("is reduced by a reservation while it runs", () => {
    const given = {
      nodes: [busy("a"), busy("b")],
      releases: later,
      tenants: [tenant("physics", { maxNodes: 5 })],
      pending: [job(1, { nodes: 2, minutes: 600 })],
    };
    const draft = draftOf(given);
    const found = findReservation(draft, jobFrom(draft, 1, { nodes: 2, minutes: 600 }));
    if (found === null) throw new Error("no reservation");
    addReservation(draft, found);
    const [timeline] = createQuotaTimelines(input(given), draft, slots)("physics");
    expect([0, 120, 2_000].map((minutes) => nodesAt(timeline, minutes))).toEqual([5, 5, 7]);
  });

  it("of the pool applies to every tenant, next to its own", () => {
    const pool = { limit: 6, current: 4, returns: [{ endsAt: instant(NOW + 60 * MINUTE), nodes: 3 }] };
    const timelines = timelinesOf({ pool, tenants: [tenant("physics", { maxNodes: 9 })] });
    expect(timelines).toHaveLength(2);
    // One node is claimed by nothing that runs, and comes back soon.
    expect([0, 5, 90].map((minutes) => nodesAt(timelines[1], minutes))).toEqual([2, 3, 6]);
    expect(timelinesOf({ pool }, "biology")).toHaveLength(1);
    expect(nodesAt(timelinesOf({ pool: { limit: 6, current: 4 } })[0], 1e6)).toBe(2);
  });

  it("allows a part of the last slot for a part of the quota", () => {
    const timeline = { nodes: Float64Array.of(2), allocations: Float64Array.of(0.5) };
    expect(hasHeadroom(timeline, 0, 2, 0.5)).toBe(true);
    expect(hasHeadroom(timeline, 0, 4, 0.5)).toBe(true);
    expect(hasHeadroom(timeline, 0, 5, 0.5)).toBe(false);
    expect(hasHeadroom(timeline, 0, 1, 0.6)).toBe(false);
  });

  it("is charged for whole slots, and for the part of the last one", () => {
    const timeline = {
      nodes: new Float64Array(slots.count).fill(10),
      allocations: new Float64Array(slots.count).fill(5),
    };
    const length = slots.at(4) + slots.width(4) / 2 - slots.at(2);
    chargeUsage(timeline, slots, { start: 2, length, nodes: 4 });
    expect([...timeline.nodes.slice(1, 4)]).toEqual([10, 6, 6]);
    expect(timeline.nodes[4]).toBeCloseTo(8, 3);
    expect(timeline.allocations[4]).toBeCloseTo(4.5, 3);
    expect(timeline.nodes[5]).toBe(10);
  });
});
