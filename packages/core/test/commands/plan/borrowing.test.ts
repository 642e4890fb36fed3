// Placements on nodes of another vCluster, on the terms of the lender.

import { duration, type Lending, type RefusalCode } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  register,
  type SpecChange,
  scalePolicy,
  submit,
  vcluster,
  vclusterId,
} from "../../support/cluster.ts";
import { refusalOfPlacing } from "../../support/placing.ts";

const codeOf = (c: Cluster, nodes: readonly string[]): RefusalCode | "placed" =>
  refusalOfPlacing(c, 1, nodes)?.code ?? "placed";

describe("a node of another vCluster", () => {
  const lending: Lending = { keepNodes: 1, maxClass: 4, maxDuration: duration(60_000), returnGrace: duration(5_000) };
  const cluster = (change: SpecChange, terms: Partial<Lending> | null = {}, borrows = true): Cluster =>
    createCluster(
      vcluster("lab", { lending: terms === null ? null : { ...lending, ...terms } }),
      vcluster("guest", { borrows }),
      ...["h1", "h2", "h3"].map((name) => register(name, { homeVCluster: vclusterId("lab") })),
      register("n1"),
      submit({
        vcluster: "guest",
        nodes: [1, 3],
        ...change,
        lifecycle: { walltime: duration(60_000), preemptionClass: 4, ...change.lifecycle },
      }),
    );

  it.each<[string, SpecChange, Parameters<typeof cluster>[1], boolean, RefusalCode | "placed"]>([
    ["lent on its terms", {}, {}, true, "placed"],
    ["not lent", {}, null, true, "node_unavailable"],
    ["not for a vCluster that does not borrow", {}, {}, false, "node_unavailable"],
    ["not for a class above the terms", { lifecycle: { preemptionClass: 5 } }, {}, true, "node_unavailable"],
    ["not for a walltime above the terms", { lifecycle: { walltime: duration(60_001) } }, {}, true, "node_unavailable"],
    [
      "for any walltime without a limit",
      { lifecycle: { walltime: duration(600_000) } },
      { maxDuration: null },
      true,
      "placed",
    ],
    ["not for work that is never preempted", { lifecycle: { noPreempt: true } }, {}, true, "node_unavailable"],
    [
      "not for an unbounded service on limited terms",
      { lifecycle: { kind: "unbounded", walltime: null } },
      {},
      true,
      "node_unavailable",
    ],
    [
      "not for the minimum of a reactive service",
      { nodes: 1, lifecycle: { kind: "reactive", walltime: null, scale: scalePolicy(1, 3) } },
      { maxDuration: null },
      true,
      "node_unavailable",
    ],
  ])("is %s", (_what, change, terms, borrows, expected) => {
    expect(codeOf(cluster(change, terms, borrows), ["h1"])).toBe(expected);
  });

  it("is lent until the owner's reserve is reached, counting the placement itself", () => {
    expect(codeOf(cluster({}), ["h1", "h2"])).toBe("placed");
    expect(codeOf(cluster({}), ["h1", "h2", "h3"])).toBe("node_unavailable");
    expect(codeOf(cluster({}, { keepNodes: 0 }), ["h1", "h2", "h3"])).toBe("placed");
    expect(codeOf(cluster({}, { keepNodes: 3 }), ["h1"])).toBe("node_unavailable");
    const c = cluster({ nodes: [1, 2] });
    c.apply(
      submit({ vcluster: "guest", nodes: [1, 2], lifecycle: { walltime: duration(60_000), preemptionClass: 1 } }),
    );
    expect(codeOf(c, ["h1", "n1"])).toBe("placed");
    expect(refusalOfPlacing(c, 2, ["h2", "h3"])?.code).toBe("node_unavailable");
    expect(refusalOfPlacing(c, 2, ["h2"])).toBeNull();
  });

  it("is available to its own vCluster on any terms", () => {
    const c = cluster({ vcluster: "lab", lifecycle: { preemptionClass: 9, walltime: duration(600_000) } });
    expect(codeOf(c, ["h1", "h2", "h3"])).toBe("placed");
  });

  it("names the lender in the refusal", () => {
    expect(refusalOfPlacing(cluster({}, null), 1, ["h1"])?.detail).toContain('"lab"');
    expect(refusalOfPlacing(cluster({}, { keepNodes: 3 }), 1, ["h1"])?.detail).toContain('"lab"');
  });
});
