// A committed plan: the claims, the run orders, the events, and the facts of an earlier placement that must not survive.

import { DEFAULT_NETWORK } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, health, id, moves, orders, register, submit, vcluster } from "../../support/cluster.ts";
import { eventsOf, placing, refusalOfPlacing } from "../../support/placing.ts";

describe("a committed placement", () => {
  it("claims, orders and stages each node once, as the next attempt", () => {
    const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2 }));
    const applied = c.apply(placing(c, 1, ["n1", "n2"]));
    expect(orders(applied)).toEqual(["run 1/1 on n1", "run 1/1 on n2"]);
    expect(moves(applied)).toEqual(["1: pending > staging"]);
    expect([c.claims("n1"), c.claims("n2")]).toEqual([["1/1"], ["1/1"]]);
    c.apply(health("n1", "silent"));
    c.report(1, "n2", "failed", "stopped");
    c.apply(health("n1", "heard"));
    expect(orders(c.apply(placing(c, 1, ["n1", "n2"])))).toEqual(["run 1/2 on n1", "run 1/2 on n2"]);
  });

  it("takes a whole node that was shared before", () => {
    const c = createCluster(
      vcluster("small", { sharesNodes: true }),
      register("n1"),
      register("n2"),
      submit({ vcluster: "small", resources: { cpuCores: 1 } }),
    );
    expect(refusalOfPlacing(c, 1, ["n1"], { shared: true })).toBeNull();
    expect(c.state.allocation(id(1))?.share).toMatchObject({ cpuCores: 1 });
    c.apply(health("n1", "silent"));
    expect(refusalOfPlacing(c, 1, ["n2"])).toBeNull();
    expect(c.state.allocation(id(1))?.share ?? null).toBeNull();
  });

  it("on one node after two leaves its network domain", () => {
    const c = createCluster(
      { kind: "network.set", settings: { ...DEFAULT_NETWORK, autoDomains: true } },
      register("n1"),
      register("n2"),
      submit({ nodes: [1, 2] }),
    );
    c.place(1, "n1", "n2");
    expect(c.state.allocation(id(1))?.network).toMatchObject({ domain: "alloc-1", vni: 1000 });
    c.apply(health("n1", "silent"));
    c.report(1, "n2", "failed", "stopped");
    c.place(1, "n2");
    expect(c.state.allocation(id(1))?.network ?? null).toBeNull();
  });
});

describe("a refused placement", () => {
  it("is an event with its allocation, attempt, vCluster and code, and gives no orders", () => {
    const c = createCluster(register("n1"), submit({ nodes: 2 }));
    const applied = c.apply(placing(c, 1, ["n1"]));
    expect(applied.effects).toEqual([]);
    expect(eventsOf(applied, "placement_refused")).toMatchObject([
      { allocation: "1", attempt: 1, vcluster: "batch", reason: "constraint_unmet" },
    ]);
  });

  it("is noted once per plan in the record of an allocation that waits", () => {
    const c = createCluster(register("n1"), submit({ nodes: 2 }));
    const basis = c.state.index;
    for (const _ of [1, 2]) c.apply(placing(c, 1, ["n1"], { basis }));
    expect(c.state.allocation(id(1))?.past?.refusals).toMatchObject([{ basis, code: "constraint_unmet" }]);
    c.apply(placing(c, 1, ["n1"]));
    expect(c.state.allocation(id(1))?.past?.refusals).toHaveLength(2);
  });
});
