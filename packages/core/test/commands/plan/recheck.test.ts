// The recheck of one placement: counts, nodes, hardware and staleness, each rule at its limit.

import type { Command, RefusalCode } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  disable,
  drain,
  health,
  hold,
  id,
  nodeId,
  register,
  type SpecChange,
  submit,
  vcluster,
} from "../../support/cluster.ts";
import { refusalOfPlacing } from "../../support/placing.ts";

const capabilities = (cpuCores: number, memoryBytes = 1024, gpuCount = 0) => ({
  cpuCores,
  memoryBytes,
  gpuType: gpuCount === 0 ? "" : "H100",
  gpuCount,
  features: ["ib"],
  hostname: "n",
  kernel: "6.1",
  isolation: "cgroup",
  hollow: false,
});

/** Four free nodes in two topology groups, allocation 1 pending with the given change. */
const withWork = (change: SpecChange, ...more: readonly Command[]): Cluster =>
  createCluster(
    register("n1", { capabilities: capabilities(8) }),
    register("n2", { capabilities: capabilities(8) }),
    register("n3", { capabilities: capabilities(8), group: "g2" as never }),
    register("n4", { capabilities: capabilities(8), group: "g3" as never }),
    ...more,
    submit(change),
  );
const codeOf = (c: Cluster, nodes: readonly string[], options = {}): RefusalCode | "placed" =>
  refusalOfPlacing(c, 1, nodes, options)?.code ?? "placed";

describe("the number of nodes in a placement", () => {
  it.each([
    { range: [2, 3], count: 1, expected: "constraint_unmet" },
    { range: [2, 3], count: 2, expected: "placed" },
    { range: [2, 3], count: 3, expected: "placed" },
    { range: [2, 3], count: 4, expected: "constraint_unmet" },
    { range: [1, 1], count: 0, expected: "constraint_unmet" },
    { range: [1, 1], count: 1, expected: "placed" },
    { range: [4, 4], count: 4, expected: "placed" },
  ] as const)("of $count where $range are requested is $expected", ({ range, count, expected }) => {
    const c = withWork({ nodes: range });
    expect(codeOf(c, ["n1", "n2", "n3", "n4"].slice(0, count))).toBe(expected);
  });

  it("is named in the refusal with the requested number", () => {
    expect(refusalOfPlacing(withWork({ nodes: [2, 3] }), 1, ["n1"])?.detail).toMatch(/^1 .*\b2\b.*\b3\b/);
  });
});

describe("a node that a placement names twice", () => {
  it.each([
    [["n1", "n1"], "constraint_unmet"],
    [["n2", "n1", "n2"], "constraint_unmet"],
    [["n1", "n2", "n1"], "constraint_unmet"],
    [["n3", "n2", "n1"], "placed"],
    [["n2", "n3", "n1"], "placed"],
  ] as const)("is refused in any order: %j is %s", (nodes, expected) => {
    expect(codeOf(withWork({ nodes: [2, 3] }), nodes)).toBe(expected);
  });
});

describe("required and excluded nodes", () => {
  it.each([
    [{ requiredNodes: ["n2"] }, ["n1", "n3"], "constraint_unmet"],
    [{ requiredNodes: ["n2"] }, ["n1", "n2"], "placed"],
    [{ requiredNodes: ["n2", "n3"] }, ["n2", "n1"], "constraint_unmet"],
    [{ requiredNodes: ["n2", "n3"] }, ["n3", "n2"], "placed"],
    [{ excludedNodes: ["n2"] }, ["n1", "n2"], "constraint_unmet"],
    [{ excludedNodes: ["n2"] }, ["n1", "n3"], "placed"],
  ] as const)("decide a placement: %j on %j is %s", (resources, nodes, expected) => {
    expect(codeOf(withWork({ nodes: 2, resources: resources as never }), nodes)).toBe(expected);
  });

  it("name the missing node in the refusal", () => {
    const c = withWork({ nodes: 2, resources: { requiredNodes: ["n2", "n3"].map(nodeId) } });
    expect(refusalOfPlacing(c, 1, ["n1", "n2"])?.detail).toContain('"n3"');
  });
});

describe("hardware constraints of a placement", () => {
  const on = (resources: SpecChange["resources"]) =>
    codeOf(
      createCluster(register("g1", { capabilities: capabilities(8, 1024, 4) }), submit({ resources: resources ?? {} })),
      ["g1"],
    );
  it.each([
    [{ cpuCores: 8 }, "placed"],
    [{ cpuCores: 9 }, "constraint_unmet"],
    [{ memoryBytes: 1024 }, "placed"],
    [{ memoryBytes: 1025 }, "constraint_unmet"],
    [{ gpuCount: 4 }, "placed"],
    [{ gpuCount: 5 }, "constraint_unmet"],
    [{ gpuType: "h100", gpuCount: 1 }, "placed"],
    [{ gpuType: "H200", gpuCount: 1 }, "constraint_unmet"],
    [{ features: ["ib"] }, "placed"],
    [{ features: ["ib", "nvme"] }, "constraint_unmet"],
    [{ requireUnifiedMemory: true }, "constraint_unmet"],
  ] as const)("%j on 8 cores, 1024 bytes and 4 GPUs is %s", (resources, expected) => {
    expect(on(resources)).toBe(expected);
  });

  it("are checked on every node of the placement, not only on the first", () => {
    const c = createCluster(
      register("big", { capabilities: capabilities(16) }),
      register("small", { capabilities: capabilities(4) }),
      submit({ nodes: 2, resources: { cpuCores: 8 } }),
    );
    const refusal = refusalOfPlacing(c, 1, ["big", "small"]);
    expect(refusal?.code).toBe("constraint_unmet");
    expect(refusal?.detail).toMatch(/"small".*\b4\b.*\b8\b/);
  });
});

describe("the topology groups of a placement", () => {
  it.each([
    { maxGroups: 1, nodes: ["n1", "n2"], expected: "placed" },
    { maxGroups: 1, nodes: ["n1", "n3"], expected: "constraint_unmet" },
    { maxGroups: 2, nodes: ["n1", "n3"], expected: "placed" },
    { maxGroups: 2, nodes: ["n2", "n3", "n4"], expected: "constraint_unmet" },
    { maxGroups: 3, nodes: ["n2", "n3", "n4"], expected: "placed" },
    { maxGroups: undefined, nodes: ["n2", "n3", "n4"], expected: "placed" },
  ] as const)("$nodes with at most $maxGroups groups is $expected", ({ maxGroups, nodes, expected }) => {
    const resources = maxGroups === undefined ? {} : { maxGroups };
    expect(codeOf(withWork({ nodes: [2, 3], resources }), nodes)).toBe(expected);
  });
});

describe("the conformance of a placement", () => {
  const placed = (requireConformance: boolean, ...fingerprints: readonly string[]) => {
    const c = createCluster(
      ...fingerprints.map((conformance, i) => register(`n${i}`, { conformance })),
      submit({ nodes: fingerprints.length, resources: { requireConformance } }),
    );
    return codeOf(
      c,
      fingerprints.map((_, i) => `n${i}`),
    );
  };
  it.each([
    [true, ["a", "a", "a"], "placed"],
    [true, ["a", "a", "b"], "constraint_unmet"],
    [true, ["", "a"], "constraint_unmet"],
    [true, ["a", ""], "constraint_unmet"],
    [true, ["", ""], "constraint_unmet"],
    [true, [""], "placed"],
    [false, ["a", "b"], "placed"],
    [false, ["", ""], "placed"],
  ] as const)("required: %s, fingerprints %j: %s", (required, fingerprints, expected) => {
    expect(placed(required, ...fingerprints)).toBe(expected);
  });
});

describe("a node that cannot take work", () => {
  const states: readonly [string, (c: Cluster) => void, RegExp][] = [
    ["is unknown", () => {}, /"n9"/],
    ["is degraded", (c) => c.apply(health("n1", "late")), /"n1".*degraded/],
    ["is silent", (c) => c.apply(health("n1", "silent")), /"n1".*down/],
    ["is disabled", (c) => c.apply(disable("n1")), /"n1".*down/],
    ["is drained", (c) => c.apply(drain("n1")), /"n1".*drained/],
    [
      "is draining",
      (c) => {
        c.apply(submit());
        c.place(2, "n1");
        c.apply(drain("n1"));
      },
      /"n1".*draining/,
    ],
    [
      "is claimed",
      (c) => {
        c.apply(submit());
        c.place(2, "n1");
      },
      /"n1".*(held|claimed) by (allocation )?2/,
    ],
    [
      "has a claim that is being released",
      (c) => {
        c.apply(submit());
        c.place(2, "n1");
        c.apply(cancel(2));
      },
      /"n1".*releas.*2/,
    ],
  ];
  it.each(states)("makes the placement unavailable when it %s", (what, setUp, detail) => {
    const c = withWork({});
    setUp(c);
    const before = c.claims("n1");
    const refusal = refusalOfPlacing(c, 1, [what === "is unknown" ? "n9" : "n1"]);
    expect(refusal?.code).toBe("node_unavailable");
    expect(refusal?.detail).toMatch(detail);
    expect([c.phase(1), c.claims("n1")]).toEqual(["pending", before]);
  });

  it("makes the placement unavailable whichever node of it is affected", () => {
    const c = withWork({ nodes: 3 });
    c.apply(health("n3", "late"));
    expect(codeOf(c, ["n1", "n2", "n3"])).toBe("node_unavailable");
    expect([c.claims("n1"), c.claims("n2")]).toEqual([[], []]);
  });
});

describe("a plan", () => {
  it("is rejected as stale when it is based on an entry beyond the log", () => {
    const c = withWork({});
    expect(codeOf(c, ["n1"], { basis: c.state.index + 1 })).toBe("stale_plan");
    expect(codeOf(c, ["n1"], { basis: c.state.index + 100 })).toBe("stale_plan");
    expect(codeOf(c, ["n1"], { basis: c.state.index })).toBe("placed");
  });

  it("is rejected as stale when it is older than the entry that made the allocation pending", () => {
    const c = withWork({});
    const since = c.state.allocation(id(1))?.pendingSinceIndex ?? 0;
    c.apply();
    expect(codeOf(c, ["n1"], { basis: since - 1 })).toBe("stale_plan");
    expect(codeOf(c, ["n1"], { basis: since })).toBe("placed");
  });

  it("is rejected as stale when it is older than the requeue of its allocation, whatever attempt it names", () => {
    const c = withWork({});
    c.place(1, "n1");
    const old = c.state.index;
    c.apply(health("n1", "silent"));
    expect(codeOf(c, ["n2"], { basis: old })).toBe("stale_plan");
    expect(codeOf(c, ["n2"])).toBe("placed");
    expect(c.claims("n2")).toEqual(["1/2"]);
  });

  it.each([0, 2, 3])("is rejected as stale when it names attempt %i where the next is 1", (attempt) => {
    expect(codeOf(withWork({}), ["n1"], { attempt })).toBe("stale_plan");
  });

  it("is rejected as stale when its allocation belongs to another vCluster", () => {
    expect(codeOf(withWork({}, vcluster("other")), ["n1"], { vcluster: "other" })).toBe("stale_plan");
  });

  const phases: readonly [string, (c: Cluster) => void][] = [
    ["staging", (c) => void c.place(1, "n2")],
    ["cancelled", (c) => void c.apply(cancel(1))],
    [
      "completed",
      (c) => {
        c.place(1, "n2");
        c.report(1, "n2", "completed");
      },
    ],
  ];
  it.each(phases)("is rejected as stale when its allocation is %s", (phase, setUp) => {
    const c = withWork({});
    setUp(c);
    expect(c.phase(1)).toBe(phase);
    const refusal = refusalOfPlacing(c, 1, ["n1"]);
    expect(refusal?.code).toBe("stale_plan");
    expect(refusal?.detail).toContain(phase);
    expect(c.claims("n1")).toEqual([]);
  });

  it("is rejected as stale while its allocation has a hold", () => {
    const c = withWork({});
    c.apply(hold(1));
    expect(refusalOfPlacing(c, 1, ["n1"])).toMatchObject({
      code: "stale_plan",
      detail: expect.stringContaining("ada"),
    });
    c.apply(hold(1, false));
    expect(codeOf(c, ["n1"])).toBe("placed");
  });

  it("is rejected as stale while a dependency of its allocation has not ended", () => {
    const c = createCluster(register("n1"), register("n2"), submit(), submit({ after: ["1:success"] }));
    expect(refusalOfPlacing(c, 2, ["n2"])?.code).toBe("stale_plan");
    c.place(1, "n1");
    expect(refusalOfPlacing(c, 2, ["n2"])?.code).toBe("stale_plan");
    c.report(1, "n1", "completed");
    expect(refusalOfPlacing(c, 2, ["n2"])).toBeNull();
  });

  it("is rejected as stale during the backoff of its allocation", () => {
    const c = withWork({ lifecycle: { requeuePolicy: "always", kind: "unbounded", walltime: null } });
    c.place(1, "n1");
    c.report(1, "n1", "failed");
    expect(c.phase(1)).toBe("pending");
    expect(codeOf(c, ["n2"])).toBe("stale_plan");
    c.advance(1_000);
    expect(c.one({ kind: "allocation.end_backoff", allocation: id(1) }).kind).toBe("accepted");
    expect(codeOf(c, ["n2"])).toBe("placed");
  });
});
