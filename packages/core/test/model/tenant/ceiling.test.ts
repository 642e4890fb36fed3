// Limits of a tenant under the ceiling of the cluster's administrators: the tenant lowers and raises them below it, and
// the ceiling is remembered for as long as a limit is below it.

import { type Tenant, UNLIMITED } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedFromAbove, changedWithin, type TenantChange, whyNotWithin } from "../../../src/model/tenant/ceiling.ts";
import { tenantId } from "../../support/cluster.ts";

const DOMAINS_OF_ALL = 50;

const tenant = (change: Partial<Tenant> = {}): Tenant => ({
  id: tenantId("physics"),
  description: "",
  quota: { ...UNLIMITED, maxNodes: 10, gpuHoursBudget: 100 },
  maxPreemptionClass: 6,
  createdAt: 0 as Tenant["createdAt"],
  automatic: false,
  ...change,
});

const barred = (change: TenantChange, of = tenant()): string | null =>
  whyNotWithin(of, change, DOMAINS_OF_ALL)?.detail ?? null;

describe("a tenant's own administrators", () => {
  it.each<TenantChange>([
    {},
    { description: "new" },
    { quota: { maxNodes: 10 } },
    { quota: { maxNodes: 0 } },
    { quota: { maxNodes: null } },
    { quota: { maxConcurrentAllocations: 1_000_000 } },
    { quota: { gpuHoursBudget: 100, nodeHoursBudget: 5 } },
    { quota: { maxNetworkDomains: 50 } },
    { maxPreemptionClass: 6 },
    { maxPreemptionClass: 0 },
  ])("may change %j", (change) => {
    expect(barred(change)).toBeNull();
  });

  it.each<[TenantChange, string, number, number]>([
    [{ quota: { maxNodes: 11 } }, "quota.max_nodes", 10, 11],
    [{ quota: { gpuHoursBudget: 101 } }, "quota.gpu_hours_budget", 100, 101],
    [{ quota: { maxNetworkDomains: 51 } }, "quota.max_network_domains", 50, 51],
    [{ maxPreemptionClass: 7 }, "max_preemption_class", 6, 7],
  ])("may not change %j: %s is beyond the ceiling", (change, field, limit, requested) => {
    expect(whyNotWithin(tenant(), change, DOMAINS_OF_ALL)).toEqual({
      code: "forbidden",
      detail: `${field} of tenant "physics" may be at most ${limit}, the limit set by the cluster's administrators; requested ${requested}`,
      hint: expect.stringContaining("Ask an administrator of the cluster") as unknown,
      figures: { limit, requested },
    });
  });

  it.each(["fairShareMilli", "burstAllowanceMilli"] as const)("may not set %s, not even lower", (key) => {
    expect(barred({ quota: { [key]: 0 } })).toContain("can be set only by administrators of the cluster");
  });

  it("are judged by the ceiling, not by the limit that they have lowered", () => {
    const lowered = changedWithin(tenant(), { quota: { maxNodes: 3 }, maxPreemptionClass: 2 });
    expect(barred({ quota: { maxNodes: 10 }, maxPreemptionClass: 6 }, lowered)).toBeNull();
    expect(barred({ quota: { maxNodes: 11 } }, lowered)).not.toBeNull();
  });
});

describe("a change by the tenant", () => {
  it("keeps the ceiling while a limit is below it, and removes it when all limits equal it again", () => {
    const lowered = changedWithin(tenant(), { quota: { maxNodes: 3 } });
    expect(lowered).toMatchObject({
      quota: { maxNodes: 3, gpuHoursBudget: 100 },
      ceiling: { quota: { maxNodes: 10 } },
    });
    expect(changedWithin(lowered, { quota: { maxNodes: 10 } })).toEqual(tenant());
  });

  it("that removes a limit restores the ceiling", () => {
    const lowered = changedWithin(tenant(), { quota: { maxNodes: 3, maxConcurrentAllocations: 2 } });
    const restored = changedWithin(lowered, { quota: { maxNodes: null, maxConcurrentAllocations: null } });
    expect(restored).toEqual(tenant());
  });

  it("never raises a limit beyond what the cluster's administrators set", () => {
    const limit = fc.option(fc.nat(20), { nil: null });
    fc.assert(
      fc.property(
        fc.array(fc.record({ maxNodes: limit, maxPreemptionClass: fc.nat(10) }), { maxLength: 8 }),
        (wishes) => {
          let now = tenant();
          for (const { maxNodes, maxPreemptionClass } of wishes) {
            const change: TenantChange = { quota: { maxNodes }, maxPreemptionClass };
            if (barred(change, now) === null) now = changedWithin(now, change);
            expect(now.quota.maxNodes).not.toBeNull();
            expect(now.quota.maxNodes ?? 99).toBeLessThanOrEqual(10);
            expect(now.maxPreemptionClass).toBeLessThanOrEqual(6);
          }
          // Every lowered limit can be raised back.
          expect(barred({ quota: { maxNodes: 10 }, maxPreemptionClass: 6 }, now)).toBeNull();
        },
      ),
    );
  });
});

describe("a change by the cluster's administrators", () => {
  it("holds at once and is the new ceiling, also where the tenant had lowered the limit", () => {
    const lowered = changedWithin(tenant(), { quota: { maxNodes: 3, gpuHoursBudget: 50 } });
    const set = changedFromAbove(lowered, { quota: { maxNodes: 20 } });
    expect(set.quota).toMatchObject({ maxNodes: 20, gpuHoursBudget: 50 });
    expect(set.ceiling?.quota).toMatchObject({ maxNodes: 20, gpuHoursBudget: 100 });
    expect(changedFromAbove(set, { quota: { gpuHoursBudget: 7 } })).not.toHaveProperty("ceiling");
  });

  it("leaves everything else as it was", () => {
    const changed = changedFromAbove(tenant({ description: "before" }), { maxPreemptionClass: 3 });
    expect(changed).toEqual(tenant({ description: "before", maxPreemptionClass: 3 }));
  });
});
