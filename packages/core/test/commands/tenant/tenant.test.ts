// tenant.create, tenant.update and tenant.delete: boundaries of each limit, refusals that change nothing, and what a
// deletion waits for.

import { type Command, duration, type Quota, UNLIMITED, type UpdateTenantCommand } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  deleteTenant,
  grant,
  origin,
  register,
  submit,
  submitGroup,
  tenant,
  tenantId,
  vcluster,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { eventsOf, fieldsOf } from "../../support/placing.ts";

const update = (name: string, change: UpdateTenantCommand["change"], within?: true): Command => ({
  kind: "tenant.update",
  origin: origin(),
  tenant: tenantId(name),
  change,
  ...(within === undefined ? {} : { within }),
});

const MOST = 1_000_000_000_000;

describe("a new tenant", () => {
  it.each<Partial<Quota>>([
    {},
    { maxNodes: 0 },
    { maxNodes: MOST },
    { maxConcurrentAllocations: MOST },
    { fairShareMilli: 1000 },
    { burstAllowanceMilli: 100_000 },
    { gpuHoursBudget: 0, nodeHoursBudget: MOST },
    { maxNetworkDomains: 0 },
  ])("may have the quota %j", (quota) => {
    const c = createCluster();
    expect(verdict(c.one(tenant("physics", quota)))).toBe("accepted");
    expect(c.state.tenant(tenantId("physics"))).toMatchObject({ quota: { ...UNLIMITED, ...quota }, automatic: false });
  });

  it.each<[string, Partial<Quota>]>([
    ["quota.max_nodes", { maxNodes: -1 }],
    ["quota.max_nodes", { maxNodes: 1.5 }],
    ["quota.max_nodes", { maxNodes: MOST + 1 }],
    ["quota.max_concurrent_allocations", { maxConcurrentAllocations: -1 }],
    ["quota.fair_share_target", { fairShareMilli: 1001 }],
    ["quota.burst_allowance", { burstAllowanceMilli: 100_001 }],
    ["quota.gpu_hours_budget", { gpuHoursBudget: Number.NaN }],
    ["quota.node_hours_budget", { nodeHoursBudget: -0.5 }],
    ["quota.max_network_domains", { maxNetworkDomains: MOST + 1 }],
  ])("names the field %s of a wrong quota: %j", (field, quota) => {
    const c = createCluster();
    expect(fieldsOf(expectRejected(c, tenant("physics", quota), "invalid_argument"))).toEqual([field]);
  });

  it.each(["", "-a", "a b", "a/b", "x".repeat(64)])("may not be called %j", (name) => {
    expect(fieldsOf(expectRejected(createCluster(), tenant(name), "invalid_argument"))).toEqual(["id"]);
  });

  it("cannot exist already, and the existing limits stay", () => {
    const c = createCluster(tenant("physics", { maxNodes: 3 }));
    expectRejected(c, tenant("physics", { maxNodes: 9 }), "already_exists");
  });

  it.each([0, 10])("can have the highest class %i", (highest) => {
    expect(verdict(createCluster().one(tenant("physics", {}, highest)))).toBe("accepted");
  });

  it.each([-1, 11, 0.5])("cannot have the highest class %d", (highest) => {
    const outcome = expectRejected(createCluster(), tenant("physics", {}, highest), "invalid_argument");
    expect(fieldsOf(outcome)).toEqual(["max_preemption_class"]);
  });

  it("is announced once", () => {
    const applied = createCluster().apply(tenant("physics"), tenant("physics"));
    expect(eventsOf(applied, "tenant_changed")).toEqual([
      { kind: "tenant_changed", tenant: "physics", from: "", to: "created", user: "ada" },
    ]);
  });
});

describe("an update of a tenant", () => {
  it("that changes nothing is repeated", () => {
    const c = createCluster(tenant("physics", { maxNodes: 3 }));
    for (const change of [{}, { description: "" }, { quota: { maxNodes: 3 } }, { maxPreemptionClass: 10 }]) {
      expectRepeated(c, update("physics", change));
    }
  });

  it("is checked as a new tenant is", () => {
    const c = createCluster(tenant("physics"));
    expectRejected(c, update("physics", { quota: { maxNodes: -1 } }), "invalid_argument");
    expectRejected(c, update("physics", { description: "x".repeat(1025) }), "invalid_argument");
    expectRejected(c, update("physics", { maxPreemptionClass: 11 }), "invalid_argument");
    expectRejected(c, update("art", {}), "unknown_tenant");
  });

  it("by its own administrators is checked against the ceiling before anything changes", () => {
    const c = createCluster(tenant("physics", { maxNodes: 3 }, 5));
    expectRejected(c, update("physics", { quota: { maxNodes: 4 } }, true), "forbidden");
    expectRejected(c, update("physics", { quota: { fairShareMilli: 1 } }, true), "forbidden");
    expectRejected(c, update("physics", { maxPreemptionClass: 6, description: "new" }, true), "forbidden");
    expect(verdict(c.one(update("physics", { quota: { maxNodes: 2 } }, true)))).toBe("accepted");
    expect(verdict(c.one(update("physics", { quota: { maxNodes: 3 } }, true)))).toBe("accepted");
  });

  it("with a lower limit stops new placements, and running work keeps its nodes", () => {
    const c = createCluster(tenant("physics", { maxNodes: 2 }), register("n1"), register("n2"));
    c.apply(submit(), submit());
    c.place(1, "n1");
    c.apply(update("physics", { quota: { maxNodes: 1 } }));
    expect([c.phase(1), c.claims("n1")]).toEqual(["staging", ["1/1"]]);
    expect(verdict(c.place(2, "n2").outcomes[0])).toBe("quota_exceeded");
    c.apply(update("physics", { quota: { maxNodes: null } }));
    expect(verdict(c.place(2, "n2").outcomes[0])).toBe("accepted");
  });
});

describe("the deletion of a tenant", () => {
  it("is rejected for an unknown tenant", () => {
    expectRejected(createCluster(), deleteTenant("physics"), "unknown_tenant");
  });

  it("waits for its vClusters, its allocations, its groups and its nodes", () => {
    const owned = createCluster(tenant("physics"), vcluster("phys", { tenant: tenantId("physics") }));
    expectRejected(owned, deleteTenant("physics"), "illegal_transition");
    const c = createCluster(register("n1"));
    c.apply(submit(), submitGroup([0, 3], 1));
    expectRejected(c, deleteTenant("physics"), "illegal_transition");
    c.apply(cancel(2));
    c.place(1, "n1");
    c.apply(cancel(1));
    expect(JSON.stringify(expectRejected(c, deleteTenant("physics"), "illegal_transition"))).toContain(
      "leaving 1 nodes",
    );
    c.report(1, "n1", "failed", "stopped");
    expect(verdict(c.one(deleteTenant("physics")))).toBe("accepted");
    expectRejected(c, deleteTenant("physics"), "unknown_tenant");
  });

  it("counts allocations that have not ended", () => {
    const c = createCluster(submit(), submit(), submitGroup([0, 3], 1));
    // One group and its one element count as two.
    expect(expectRejected(c, deleteTenant("physics"), "illegal_transition")).toMatchObject({
      refusal: { figures: { count: 4 } },
    });
  });

  it("removes its grants, so that a later tenant of this name has none", () => {
    const c = createCluster(tenant("physics"), tenant("art"));
    c.apply(grant("grant.add", "physics", "bob"), grant("grant.add", "art", "bob"));
    c.apply(deleteTenant("physics"), tenant("physics"));
    expect(c.state.grantsOf("bob" as never).map((one) => one.tenant)).toEqual(["art"]);
  });

  it("keeps its use in the ledger", () => {
    const c = createCluster(register("n1"));
    c.apply(submit());
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.advance(duration(3_600_000));
    c.report(1, "n1", "completed");
    c.apply(deleteTenant("physics"));
    expect(c.state.ledger.tenants()).toEqual(["physics"]);
  });
});
