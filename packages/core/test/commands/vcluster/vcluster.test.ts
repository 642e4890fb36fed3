// vcluster.create, vcluster.update and vcluster.delete: refusals that change nothing, the one default, and what a
// deletion waits for.

import { type Command, DEFAULT_LENDING, duration, type UpdateVClusterCommand } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  deleteVCluster,
  origin,
  register,
  submit,
  tenant,
  tenantId,
  vcluster,
  vclusterId,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { eventsOf, fieldsOf } from "../../support/placing.ts";

const update = (name: string, change: UpdateVClusterCommand["change"]): Command => ({
  kind: "vcluster.update",
  origin: origin(),
  vcluster: vclusterId(name),
  change,
});

describe("a new vCluster", () => {
  it.each(["", "a b", "-x", "x".repeat(64)])("may not be called %j", (name) => {
    expect(fieldsOf(expectRejected(createCluster(), vcluster(name), "invalid_argument"))).toEqual(["id"]);
  });

  it("cannot exist already, and belongs to a known tenant or to all", () => {
    const c = createCluster(tenant("physics"));
    expectRejected(c, vcluster("batch"), "already_exists");
    expectRejected(c, vcluster("art", { tenant: tenantId("art") }), "unknown_tenant");
    expect(verdict(c.one(vcluster("phys", { tenant: tenantId("physics") })))).toBe("accepted");
  });

  it("as the default replaces the previous default, which is announced", () => {
    const c = createCluster();
    const applied = c.apply(vcluster("next", { isDefault: true }));
    expect(Array.from(c.state.vclusters(), ({ id, isDefault }) => [id, isDefault])).toEqual([
      ["batch", false],
      ["next", true],
    ]);
    expect(eventsOf(applied, "vcluster_changed")).toMatchObject([
      { vcluster: "batch", to: "updated", reason: "no longer the default" },
      { vcluster: "next", to: "created" },
    ]);
  });

  it("that is refused leaves the default unchanged", () => {
    const c = createCluster();
    expectRejected(c, vcluster("next", { isDefault: true, backfillDepth: -1 }), "invalid_argument");
    expectRejected(c, vcluster("next", { isDefault: true, tenant: tenantId("nobody") }), "unknown_tenant");
    expect(c.state.vcluster(vclusterId("batch"))?.isDefault).toBe(true);
  });
});

describe("an update of a vCluster", () => {
  it("changes only the named fields", () => {
    const c = createCluster();
    const before = c.state.vcluster(vclusterId("batch"));
    c.apply(update("batch", { weights: { energy: 7 }, lending: DEFAULT_LENDING }));
    expect(c.state.vcluster(vclusterId("batch"))).toEqual({
      ...before,
      weights: { ...before?.weights, energy: 7 },
      lending: DEFAULT_LENDING,
    });
  });

  it("that changes nothing is repeated", () => {
    const c = createCluster();
    expectRepeated(c, update("batch", {}));
    expectRepeated(c, update("batch", { description: "", backfillDepth: 10, weights: {} }));
  });

  it("is checked together with the unchanged settings", () => {
    const c = createCluster(vcluster("safe", { scheduler: "sensitive_reservation" }));
    expectRejected(c, update("batch", { maxWalltime: duration(59_999) }), "invalid_argument");
    expectRejected(c, update("safe", { borrows: true }), "invalid_argument");
    expectRejected(c, update("safe", { lending: DEFAULT_LENDING }), "invalid_argument");
    expectRejected(c, update("nowhere", {}), "unknown_vcluster");
  });

  it("with a lower walltime binds new submissions, and queued work keeps its own", () => {
    const c = createCluster(register("n1"));
    c.apply(submit());
    c.apply(update("batch", { maxWalltime: duration(60_000) }));
    expect(verdict(c.one(submit()))).toBe("invalid_argument");
    expect(verdict(c.place(1, "n1").outcomes[0])).toBe("accepted");
  });
});

describe("the deletion of a vCluster", () => {
  it("is rejected for an unknown vCluster and for the default", () => {
    const c = createCluster();
    expectRejected(c, deleteVCluster("nowhere"), "unknown_vcluster");
    expectRejected(c, deleteVCluster("batch"), "illegal_transition");
  });

  it("waits for home nodes, work, and nodes that its work is leaving", () => {
    const c = createCluster(vcluster("ml"), register("n1"), register("n2", { homeVCluster: vclusterId("ml") }));
    expect(expectRejected(c, deleteVCluster("ml"), "illegal_transition")).toMatchObject({
      refusal: { figures: { count: 1 } },
    });
    c.apply({ kind: "node.assign", origin: origin(), node: "n2" as never, vcluster: null });
    c.apply(submit({ vcluster: "ml" }));
    expectRejected(c, deleteVCluster("ml"), "illegal_transition");
    c.apply({
      kind: "plan.commit",
      vcluster: vclusterId("ml"),
      basis: c.state.index,
      placements: [{ allocation: "1", attempt: 1, nodes: ["n1"], scores: {}, backfilled: false } as never],
    });
    c.apply(cancel(1));
    expectRejected(c, deleteVCluster("ml"), "illegal_transition");
    c.report(1, "n1", "failed", "stopped");
    expect(verdict(c.one(deleteVCluster("ml")))).toBe("accepted");
    expect(verdict(c.one(submit({ vcluster: "ml" })))).toBe("unknown_vcluster");
  });
});
