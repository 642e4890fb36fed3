// Tenants, vClusters and retention, command by command.

import { type Command, duration } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  id,
  orders,
  origin,
  register,
  submit,
  tenant,
  tenantId,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

type TenantChange = Extract<Command, { kind: "tenant.update" }>["change"];
type VClusterChange = Extract<Command, { kind: "vcluster.update" }>["change"];
const updateTenant = (name: string, change: TenantChange): Command => ({
  kind: "tenant.update",
  origin: origin(),
  tenant: tenantId(name),
  change,
});
const within = (name: string, change: TenantChange): Command => ({
  kind: "tenant.update",
  origin: origin(),
  tenant: tenantId(name),
  change,
  within: true,
});
const updateVCluster = (name: string, change: VClusterChange): Command => ({
  kind: "vcluster.update",
  origin: origin(),
  vcluster: vclusterId(name),
  change,
});
const fieldsOf = (outcome: ReturnType<ReturnType<typeof createCluster>["one"]>): readonly string[] =>
  outcome.kind === "rejected" ? (outcome.refusal.fields ?? []).map((problem) => problem.field) : [];

describe("tenants", () => {
  it("are created once, and their names and limits are checked", () => {
    const c = createCluster(tenant("a"));
    expect(verdict(c.one(tenant("a")))).toBe("already_exists");
    expect(fieldsOf(c.one(tenant("no good")))).toEqual(["id"]);
    expect(fieldsOf(c.one(tenant("b", { fairShareMilli: 1001 }, 11)))).toEqual([
      "max_preemption_class",
      "quota.fair_share_target",
    ]);
    expect(fieldsOf(c.one(tenant("b", { maxNodes: -1 })))).toEqual(["quota.max_nodes"]);
  });
  describe("with their own administrators", () => {
    const made = () => createCluster(tenant("a", { maxNodes: 100, gpuHoursBudget: 50 }, 5));
    const limits = (c: ReturnType<typeof made>) => {
      const { quota, maxPreemptionClass, ceiling } = c.state.tenant(tenantId("a")) ?? {};
      return [quota?.maxNodes, quota?.maxConcurrentAllocations, maxPreemptionClass, ceiling?.quota.maxNodes];
    };
    it("lower limits and raise them again up to the ceiling", () => {
      const c = made();
      c.apply(within("a", { quota: { maxNodes: 40, maxConcurrentAllocations: 7 }, maxPreemptionClass: 3 }));
      expect(limits(c)).toEqual([40, 7, 3, 100]);
      expect(verdict(c.one(within("a", { quota: { maxNodes: 101 } })))).toBe("forbidden");
      expect(verdict(c.one(within("a", { maxPreemptionClass: 6 })))).toBe("forbidden");
      expect(limits(c)).toEqual([40, 7, 3, 100]);
      c.apply(within("a", { quota: { maxNodes: 90 } }));
      expect(limits(c)).toEqual([90, 7, 3, 100]);
      c.apply(within("a", { quota: { maxNodes: null, maxConcurrentAllocations: null }, maxPreemptionClass: 5 }));
      expect(limits(c)).toEqual([100, null, 5, undefined]);
    });
    it("cannot change shares, or exceed the limits of all tenants", () => {
      const c = made();
      const refused = [{ fairShareMilli: 1 }, { burstAllowanceMilli: null }, { gpuHoursBudget: 51 }] as const;
      for (const quota of refused) expect(verdict(c.one(within("a", { quota })))).toBe("forbidden");
      const { maxDomainsPerTenant } = c.state.network;
      const domains = (maxNetworkDomains: number) => verdict(c.one(within("a", { quota: { maxNetworkDomains } })));
      expect([domains(maxDomainsPerTenant + 1), domains(maxDomainsPerTenant)]).toEqual(["forbidden", "accepted"]);
      expect(fieldsOf(c.one(within("a", { quota: { maxNodes: -1 } })))).toEqual(["quota.max_nodes"]);
    });
    it("get the limits that the cluster's administrators set, which become the ceiling", () => {
      const c = made();
      c.apply(within("a", { quota: { maxNodes: 40, maxConcurrentAllocations: 7 } }));
      c.apply(updateTenant("a", { quota: { maxNodes: 80 } }));
      expect(limits(c)).toEqual([80, 7, 5, 80]);
      expect(verdict(c.one(within("a", { quota: { maxNodes: 81 } })))).toBe("forbidden");
      c.apply(updateTenant("a", { quota: { maxConcurrentAllocations: null } }));
      expect(limits(c)).toEqual([80, null, 5, undefined]);
    });
  });
  it("change only in the named fields, and null removes a limit", () => {
    const c = createCluster(tenant("a", { maxNodes: 5, maxConcurrentAllocations: 2 }));
    expect(verdict(c.one(updateTenant("a", { quota: { maxNodes: null } })))).toBe("accepted");
    expect(c.state.tenant(tenantId("a"))?.quota).toMatchObject({ maxNodes: null, maxConcurrentAllocations: 2 });
    expect(verdict(c.one(updateTenant("a", { quota: { maxNodes: null } })))).toBe("repeated");
    expect(verdict(c.one(updateTenant("b", {})))).toBe("unknown_tenant");
    expect(fieldsOf(c.one(updateTenant("a", { description: "\0" })))).toEqual(["description"]);
  });
  it("keep running work when a limit is lowered", () => {
    const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2 }), submit());
    c.place(1, "n1", "n2");
    c.apply(updateTenant("physics", { quota: { maxNodes: 1 } }));
    expect(c.phase(1)).toBe("staging");
    c.apply(register("n3"));
    expect(verdict(c.place(2, "n3").outcomes[0])).toBe("quota_exceeded");
  });
});

describe("vClusters", () => {
  it("are created once, for a tenant that exists", () => {
    const c = createCluster(vcluster("a"));
    expect(verdict(c.one(vcluster("a")))).toBe("already_exists");
    expect(verdict(c.one(vcluster("b", { tenant: tenantId("unknown") })))).toBe("unknown_tenant");
    expect(fieldsOf(c.one(vcluster("-", { cycleInterval: duration(0), backfillDepth: -1 })))).toEqual([
      "id",
      "cycle_interval_seconds",
      "backfill_depth",
    ]);
    const walltimes = { defaultWalltime: duration(2000), maxWalltime: duration(1000) };
    expect(fieldsOf(c.one(vcluster("c", walltimes)))).toEqual(["default_walltime_seconds"]);
  });
  it("have exactly one default", () => {
    const c = createCluster(vcluster("a", { isDefault: true }));
    expect(Array.from(c.state.vclusters(), (v) => `${v.id} ${v.isDefault}`)).toEqual(["batch false", "a true"]);
  });
  it("change single weights and keep the others", () => {
    const c = createCluster();
    c.apply(updateVCluster("batch", { weights: { priority: 900 }, maxWalltime: duration(3_600_000) }));
    expect(c.state.vcluster(vclusterId("batch"))).toMatchObject({ weights: { priority: 900, wait_time: 250 } });
    expect(verdict(c.one(updateVCluster("batch", { maxWalltime: null })))).toBe("accepted");
    expect(verdict(c.one(updateVCluster("batch", { maxWalltime: null })))).toBe("repeated");
    expect(verdict(c.one(updateVCluster("x", {})))).toBe("unknown_vcluster");
    expect(fieldsOf(c.one(updateVCluster("batch", { weights: { energy: -1 } })))).toEqual(["weights.energy"]);
  });
});

describe("retention", () => {
  const keep = (maxFinished: number, maxFinishedAge: number): Command => ({
    kind: "retention.set",
    maxFinished,
    maxFinishedAge: duration(maxFinishedAge),
  });
  it("archives the allocations that finished first, by count", () => {
    const c = createCluster(keep(2, 1e9), submit(), submit(), submit(), submit());
    expect(orders(c.apply(cancel(3), cancel(1)))).toEqual([]);
    expect(orders(c.apply(cancel(2)))).toEqual(["archive 3"]);
    expect(c.state.allocation(id(3))).toBeUndefined();
    expect(orders(c.apply(keep(0, 1e9)))).toEqual(["archive 1", "archive 2"]);
    expect(c.state.allocationCount).toBe(1);
    expect(verdict(c.one(keep(0, 1e9)))).toBe("repeated");
    expect(verdict(c.one(keep(-1, 1e9)))).toBe("invalid_argument");
  });
  it("archives allocations by age, with the next entry of any kind", () => {
    const c = createCluster(keep(100, 1000), submit());
    c.apply(cancel(1));
    c.advance(1000);
    expect(orders(c.apply())).toEqual([]);
    c.advance(1);
    expect(orders(c.apply())).toEqual(["archive 1"]);
  });
  it("keeps finished allocations that still hold a claim", () => {
    const c = createCluster(keep(0, 0), register("n1"), submit());
    c.place(1, "n1");
    c.apply(cancel(1));
    c.advance(5000);
    expect(orders(c.apply())).toEqual([]);
    expect(orders(c.report(1, "n1", "failed", "stopped"))).toEqual(["forget 1/1 on n1", "archive 1"]);
  });
});
