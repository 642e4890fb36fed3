// Claims: the right claim is released, each stop is ordered once, and the last claim ends a drain.

import { describe, expect, it } from "vitest";
import { cancel, createCluster, drain, orders, register, submit, vcluster } from "../../support/cluster.ts";
import { eventsOf, refusalOfPlacing, stops } from "../../support/placing.ts";

describe("a claim", () => {
  it("is released for its own allocation where several share a node with the same attempt number", () => {
    const small = submit({ vcluster: "small", resources: { cpuCores: 1 } });
    const c = createCluster(vcluster("small", { sharesNodes: true }), register("n1"), small, small);
    for (const n of [1, 2]) expect(refusalOfPlacing(c, n, ["n1"], { shared: true })).toBeNull();
    const applied = c.report(2, "n1", "completed");
    expect(c.claims("n1")).toEqual(["1/1"]);
    expect(eventsOf(applied, "claim_released")).toMatchObject([{ node: "n1", allocation: "2", attempt: 1 }]);
    expect(orders(applied)).toEqual(["forget 2/1 on n1"]);
  });

  it("of a cancelled allocation is ordered to stop once, and lasts until each node confirms", () => {
    const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2 }));
    c.place(1, "n1", "n2");
    expect(stops(c.apply(cancel(1)))).toEqual(["1/1 on n1: cancelled", "1/1 on n2: cancelled"]);
    expect(stops(c.apply(cancel(1)))).toEqual([]);
    c.report(1, "n1", "failed", "stopped");
    expect([c.claims("n1"), c.claims("n2")]).toEqual([[], ["1/1 releasing"]]);
  });

  it("that is the last on a draining node makes this node drained, and no other", () => {
    const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2 }));
    c.place(1, "n1", "n2");
    c.apply(drain("n1"));
    for (const node of ["n1", "n2"]) c.report(1, node, "completed");
    expect([c.phase(1), c.nodeState("n1"), c.nodeState("n2")]).toEqual(["completed", "drained", "ready"]);
    expect(c.state.freeNodeCount).toBe(1);
  });
});
