// Hard quotas within one plan: headroom, shortages, charges and refunds.

import type { TenantId } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CycleInput, cycle, type TenantInput } from "../../src/index.ts";
import { createQuotas } from "../../src/limits/quotas.ts";
import { someInput } from "../arbitrary.ts";
import { input, tenant } from "../make.ts";

const physics = "physics" as TenantId;
const unlimited = Number.POSITIVE_INFINITY;
const quotasOf = (fields: Partial<TenantInput>, pool?: CycleInput["pool"]) =>
  createQuotas(input({ tenants: [tenant("physics", fields)], ...(pool === undefined ? null : { pool }) }));

describe("headroom", () => {
  it.each([
    { name: "without limits", fields: {}, need: 5, expected: unlimited },
    { name: "below the quota of nodes", fields: { maxNodes: 8, nodesInUse: 3 }, need: 2, expected: 5 },
    { name: "exactly at the quota of nodes", fields: { maxNodes: 8, nodesInUse: 3 }, need: 5, expected: 5 },
    { name: "above the quota of nodes", fields: { maxNodes: 8, nodesInUse: 3 }, need: 6, expected: 0 },
    { name: "with a quota already exceeded", fields: { maxNodes: 2, nodesInUse: 3 }, need: 1, expected: 0 },
    {
      name: "below the quota of allocations",
      fields: { maxConcurrentAllocations: 2, running: 1 },
      need: 9,
      expected: unlimited,
    },
    { name: "at the quota of allocations", fields: { maxConcurrentAllocations: 2, running: 2 }, need: 1, expected: 0 },
    { name: "with a quota of no nodes", fields: { maxNodes: 0 }, need: 1, expected: 0 },
  ])("$name", ({ fields, need, expected }) => {
    const quotas = quotasOf(fields);
    expect(quotas.headroom(physics, need)).toBe(expected);
    expect(quotas.shortage(physics, need) === null).toBe(expected !== 0);
  });

  it("of an unknown tenant is limited by the pool only", () => {
    const stranger = "stranger" as TenantId;
    expect(quotasOf({ maxNodes: 1 }).headroom(stranger, 5)).toBe(unlimited);
    const quotas = quotasOf({}, { limit: 6, current: 2 });
    expect(quotas.headroom(stranger, 4)).toBe(4);
    expect(quotas.headroom(stranger, 5)).toBe(0);
  });

  it("leaves out the kept quota", () => {
    const kept = { nodes: 2, allocations: 1, pooled: 3 };
    expect(quotasOf({ maxNodes: 8, nodesInUse: 3 }).headroom(physics, 3, kept)).toBe(3);
    expect(quotasOf({ maxNodes: 8, nodesInUse: 3 }).headroom(physics, 4, kept)).toBe(0);
    expect(quotasOf({ maxConcurrentAllocations: 2, running: 1 }).headroom(physics, 1, kept)).toBe(0);
    expect(quotasOf({ maxConcurrentAllocations: 2, running: 1 }).shortage(physics, 0, kept)?.code).toBe(
      "quota_allocations",
    );
    expect(quotasOf({}, { limit: 6, current: 2 }).headroom(physics, 1, kept)).toBe(1);
    expect(quotasOf({}, { limit: 6, current: 2 }).headroom(physics, 2, kept)).toBe(0);
  });

  it("does not decide what the limits admit on an idle cluster", () => {
    const full = { maxNodes: 4, nodesInUse: 4, maxConcurrentAllocations: 1, running: 1 };
    expect(quotasOf(full).isWithinLimits(physics, 4)).toBe(true);
    expect(quotasOf(full).isWithinLimits(physics, 5)).toBe(false);
    expect(quotasOf({ maxConcurrentAllocations: 0 }).isWithinLimits(physics, 1)).toBe(false);
    expect(quotasOf({}, { limit: 3, current: 3 }).isWithinLimits(physics, 3)).toBe(true);
    expect(quotasOf({}, { limit: 3, current: 3 }).isWithinLimits(physics, 4)).toBe(false);
  });

  it("is the lower of quota and pool", () => {
    expect(quotasOf({ maxNodes: 8 }, { limit: 6, current: 2 }).headroom(physics, 1)).toBe(4);
    expect(quotasOf({ maxNodes: 3 }, { limit: 6, current: 2 }).headroom(physics, 1)).toBe(3);
  });
});

describe("a shortage", () => {
  it.each([
    {
      name: "of allocations comes before one of nodes",
      fields: { maxConcurrentAllocations: 1, running: 1, maxNodes: 1, nodesInUse: 1 },
      expected: { code: "quota_allocations", used: 1, limit: 1 },
    },
    {
      name: "of nodes has the figures",
      fields: { maxNodes: 4, nodesInUse: 3 },
      expected: { code: "quota_nodes", used: 3, limit: 4 },
    },
    { name: "of the pool comes last", fields: {}, expected: { code: "sensitive_pool", used: 5, limit: 6 } },
  ])("$name", ({ fields, expected }) => {
    expect(quotasOf(fields, { limit: 6, current: 5 }).shortage(physics, 2)).toEqual(expected);
  });
});

describe("charges", () => {
  it("reduce headroom, and refunds restore it", () => {
    const quotas = quotasOf({ maxNodes: 10, maxConcurrentAllocations: 2 }, { limit: 9, current: 0 });
    quotas.charge(physics, 4);
    expect(quotas.headroom(physics, 1)).toBe(5);
    quotas.charge(physics, 3);
    expect(quotas.shortage(physics, 1)?.code).toBe("quota_allocations");
    quotas.refund(physics, 3);
    expect(quotas.headroom(physics, 1)).toBe(5);
    quotas.refund(physics, 4);
    expect(quotas.headroom(physics, 1)).toBe(9);
  });

  it("of one tenant leave the quota of others, and use the pool of all", () => {
    const tenants = [tenant("physics", { maxNodes: 4 }), tenant("biology", { maxNodes: 4 })];
    const quotas = createQuotas(input({ tenants, pool: { limit: 6, current: 0 } }));
    quotas.charge(physics, 4);
    expect(quotas.headroom(physics, 1)).toBe(0);
    expect(quotas.headroom("biology" as TenantId, 1)).toBe(2);
  });

  it("of no nodes count as an allocation: a share of a node in use", () => {
    const quotas = quotasOf({ maxNodes: 1, nodesInUse: 1, maxConcurrentAllocations: 2, running: 1 });
    expect(quotas.shortage(physics, 0)).toBeNull();
    quotas.charge(physics, 0);
    expect(quotas.shortage(physics, 0)?.code).toBe("quota_allocations");
  });
});

describe("a plan", () => {
  it("never exceeds quotas or the pool, with use from before it", () => {
    let cut = 0;
    const someUse = fc.record({ used: fc.nat(3), pool: fc.integer({ min: 1, max: 8 }), current: fc.nat(3) });
    fc.assert(
      fc.property(someInput, someUse, (given, { used, pool, current }) => {
        const tenants = given.tenants.map((each) => ({ ...each, nodesInUse: used, running: used }));
        const { placements } = cycle({ ...given, tenants, pool: { limit: pool, current } });
        const nodesOf = (of: readonly { readonly nodes: readonly unknown[] }[]): number =>
          of.reduce((sum, { nodes }) => sum + nodes.length, 0);
        if (placements.length > 0) expect(current + nodesOf(placements)).toBeLessThanOrEqual(pool);
        for (const { id, maxNodes, maxConcurrentAllocations } of tenants) {
          const own = placements.filter(
            ({ allocation }) => given.pending.find((pending) => pending.id === allocation)?.tenant === id,
          );
          if (own.length === 0) continue;
          expect(used + nodesOf(own)).toBeLessThanOrEqual(maxNodes ?? unlimited);
          expect(used + own.length).toBeLessThanOrEqual(maxConcurrentAllocations ?? unlimited);
          cut += 1;
        }
      }),
      { numRuns: 200 },
    );
    expect(cut).toBeGreaterThan(50);
  });
});
