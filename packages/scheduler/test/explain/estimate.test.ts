// Expected starts of all waiting allocations.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createTimeSlots } from "../../src/explain/time-slots.ts";
import { type CycleInput, cycle } from "../../src/index.ts";
import { allocationId, busy, input, job, MINUTE, NOW, release, tenant } from "../make.ts";

/** Minutes from now, by id; null when nothing can be expected. */
const expected = (given: Partial<CycleInput>): (number | null)[] => {
  const full = input({ isFifo: true, report: "full", ...given });
  const { estimates } = cycle(full);
  return full.pending.map(({ id }) => {
    const at = estimates.get(id);
    return at === undefined ? null : (at - NOW) / MINUTE;
  });
};

const close = (minutes: number | null | undefined, to: number): void => {
  expect(minutes).toBeGreaterThanOrEqual(to);
  expect(minutes).toBeLessThanOrEqual(to * 1.16 + 1);
};

describe("estimates", () => {
  const machine = { nodes: [busy("a"), busy("b")], releases: [release(60, "a", "b")] };

  it("follow the queue, and those with a reservation are exact to the millisecond", () => {
    const pending = [1, 2, 3, 4, 5].map((id) => job(id, { nodes: 2, minutes: 60, waited: 10 - id }));
    const minutes = expected({ ...machine, pending });
    expect(minutes[0]).toBe(60);
    for (const [at, ahead] of [60, 120.5, 181, 241.5, 302].entries()) close(minutes[at], ahead);
  });

  it("stay close at the end of a long queue of short jobs", () => {
    const pending = Array.from({ length: 300 }, (_, i) => job(i + 1, { nodes: 2, minutes: 9.5, waited: 300 - i }));
    const minutes = expected({ ...machine, pending });
    for (const at of [50, 150, 299]) {
      const exact = 60 + at * 10;
      expect(minutes[at]).toBeGreaterThan(exact * 0.85);
      expect(minutes[at]).toBeLessThan(exact * 1.2);
    }
  });

  it("let a small job overtake where nodes are left over", () => {
    const pending = [
      job(1, { nodes: 2, minutes: 60, waited: 5 }),
      job(2, { nodes: 1, minutes: 600, waited: 4 }),
      job(3, { nodes: 2, minutes: 60, waited: 3 }),
      job(4, { nodes: 1, minutes: 60, waited: 2 }),
    ];
    const [, second, third, fourth] = expected({ ...machine, pending });
    close(second, 120.5);
    close(fourth, 120.5);
    close(third, 720);
  });

  it("wait for quota as well as for nodes", () => {
    const releases = [{ ...release(60, "a"), tenant: tenant("physics").id }, release(5, "b")];
    const tenants = [tenant("physics", { maxNodes: 1, nodesInUse: 1, running: 1 })];
    const [minutes] = expected({ ...machine, releases, tenants, pending: [job(1)] });
    close(minutes, 60);
  });

  it("wait for the pool of sensitive work as well as for nodes, whichever vCluster releases it", () => {
    const returns = [{ endsAt: instant(NOW + 60 * MINUTE), nodes: 2 }];
    const given = {
      ...machine,
      releases: [release(5, "a", "b")],
      pending: [job(1, { minutes: 60 }), job(2, { nodes: 2 }), job(3, { nodes: 5 })],
    };
    const [first, second, third] = expected({ ...given, pool: { limit: 2, current: 2, returns } });
    close(first, 60);
    close(second, 120);
    expect(third).toBeNull();
    // Nodes without running work are released soon.
    const [soon] = expected({ ...given, pool: { limit: 2, current: 2, returns: [] } });
    expect(soon).toBeLessThan(10);
  });

  it("leave to a reservation the quota that it will use", () => {
    const tenants = [tenant("physics", { maxNodes: 2, nodesInUse: 1, running: 1 })];
    const releases = [release(30, "a"), release(30, "b"), { ...release(40, "c"), tenant: tenant("physics").id }];
    const pending = [job(1, { minutes: 100, waited: 2 }), job(2, { nodes: 2, waited: 1 })];
    const nodes = [busy("a"), busy("b"), busy("c")];
    const [first, second] = expected({ nodes, releases, tenants, pending, backfillDepth: 1 });
    expect(first).toBe(30);
    close(second, 130);
  });

  it("exist for every allocation, also beyond the limit of reasons", () => {
    const pending = Array.from({ length: 10_500 }, (_, i) =>
      job(i + 1, { nodes: 2, minutes: 9.5, waited: 20_000 - i }),
    );
    const full = cycle(input({ ...machine, isFifo: true, report: "full", pending }));
    expect([full.estimates.size, full.reasons.size, full.scores.size]).toEqual([10_500, 10_000, 10_000]);
    const last = ((full.estimates.get(allocationId(10_500)) ?? NOW) - NOW) / MINUTE;
    expect(last / (60 + 10_499 * 10)).toBeGreaterThan(0.85);
    expect(last / (60 + 10_499 * 10)).toBeLessThan(1.2);
  });

  it("do not exist for a job that can never start", () => {
    const pending = [job(1, { nodes: 3, waited: 1 }), job(2)];
    expect(expected({ ...machine, releases: [release(null, "a", "b")], pending })).toEqual([null, null]);
  });

  it("in a brief report cover reservations only, and a full report adds reasons and scores for all", () => {
    const pending = Array.from({ length: 300 }, (_, i) => job(i + 1, { nodes: 2 }));
    const brief = cycle(input({ ...machine, pending }));
    const full = cycle(input({ ...machine, pending, report: "full" }));
    expect([brief.estimates.size, brief.scores.size]).toEqual([1, 0]);
    expect([full.estimates.size, full.reasons.size, full.scores.size]).toEqual([300, 300, 300]);
    expect(full.scores.get(allocationId(300))?.total).toBeGreaterThan(0);
    expect(full.placements).toEqual(brief.placements);
  });
});

describe("slots", () => {
  it("become longer with their distance, and cover years", () => {
    const slots = createTimeSlots(NOW);
    expect(slots.at(0)).toBe(NOW);
    expect(slots.at(slots.count - 1) - NOW).toBeGreaterThan(5 * 365 * 24 * 60 * MINUTE);
    for (const minutes of [1, 60, 600, 60_000]) {
      const at = NOW + minutes * MINUTE;
      const slot = slots.firstAfter(at);
      expect(slots.at(slot)).toBeGreaterThanOrEqual(at);
      expect(slots.at(slots.of(at))).toBeLessThanOrEqual(at);
      expect(slots.at(slot) - at).toBeLessThanOrEqual(0.08 * minutes * MINUTE + MINUTE);
    }
    expect(slots.firstAfter(Number.POSITIVE_INFINITY)).toBe(slots.count);
  });
});
