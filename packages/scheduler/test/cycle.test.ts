// The cycle as a whole: the content of the plan, the end of the walk, quotas, and reasons.

import { describe, expect, it } from "vitest";
import { FULL_MACHINE_QUEUE_LIMIT } from "../src/base/bounds.ts";
import { cycle, REASONS_LIMIT, reasonsFor } from "../src/index.ts";
import { allocationId, busy, input, job, MINUTE, NOW, node, nodeIds, release, tenant } from "./make.ts";

const codes = (given: Parameters<typeof input>[0], id: number): string[] =>
  (cycle(input(given)).reasons.get(allocationId(id)) ?? []).map((reason) => reason.code);
const text = (given: Parameters<typeof input>[0], id: number): string =>
  (cycle(input(given)).reasons.get(allocationId(id)) ?? []).map((reason) => reason.text).join(" ");

describe("a cycle", () => {
  it("has basis, attempts and scores in its plan, and reports expected starts", () => {
    const given = input({
      nodes: [node("a"), busy("b")],
      releases: [release(60, "b")],
      pending: [job(1, { class: 9 }), job(2, { nodes: 2 })],
    });
    const result = cycle(given);
    expect(result.vcluster).toBe("hpc-batch");
    expect(result.basis).toBe(7);
    expect(result.placements).toEqual([
      {
        allocation: "1",
        attempt: 1,
        nodes: ["a"],
        scores: {
          priority: 135,
          wait_time: 0,
          fair_share: 150,
          topology: 150,
          data_readiness: 50,
          backlog: 25,
          checkpoint: 0,
          energy: 0,
          conformance: 100,
          total: 610,
        },
        backfilled: false,
      },
    ]);
    expect(result.considered).toBe(2);
    expect(result.estimates.get(allocationId(2))).toBe(NOW + 60 * MINUTE);
    expect([...result.reasons.keys()]).toEqual(["2"]);
  });

  it("stops when no node is free and the reservations are made", () => {
    const pending = Array.from({ length: 1000 }, (_, i) => job(i + 1));
    const result = cycle(input({ nodes: ["a", "b", "c", "d"].map((id) => node(id)), pending }));
    expect(result.placements.map(({ allocation }) => allocation)).toEqual(["1", "2", "3", "4"]);
    expect(result.considered).toBe(5);
    expect(result.reservations).toHaveLength(1);
    expect(result.reasons.size).toBe(REASONS_LIMIT);
    expect(result.reasons.has(allocationId(5))).toBe(true);
  });

  it("does not order a long queue when no node is free, and still has reasons", () => {
    const pending = Array.from({ length: FULL_MACHINE_QUEUE_LIMIT + 1 }, (_, i) => job(i + 1));
    const given = input({ nodes: [busy("a")], releases: [release(5, "a")], pending });
    const result = cycle(given);
    expect(result.considered).toBe(0);
    expect(result.placements).toEqual([]);
    expect(result.reasons.size).toBe(REASONS_LIMIT);
    const last = allocationId(FULL_MACHINE_QUEUE_LIMIT + 1);
    expect(result.reasons.has(last)).toBe(false);
    expect(reasonsFor(given, last).map((reason) => reason.code)).toEqual(["busy"]);
  });

  it("plans a start when no node is free, for a queue of usual length", () => {
    const given = input({ nodes: [busy("a")], releases: [release(5, "a")], pending: [job(1)] });
    expect(cycle(given).estimates.get(allocationId(1))).toBe(NOW + 5 * MINUTE);
  });
});

describe("quotas", () => {
  it.each([
    { name: "nodes", quota: { maxNodes: 5, nodesInUse: 2 }, placed: ["1", "3"], code: "quota_nodes" },
    {
      name: "allocations",
      quota: { maxConcurrentAllocations: 3, running: 2 },
      placed: ["1"],
      code: "quota_allocations",
    },
  ])("count the placements of the same cycle: $name", ({ quota, placed, code }) => {
    const given = {
      isFifo: true,
      nodes: ["a", "b", "c", "d", "e", "f"].map((id) => node(id)),
      pending: [job(1, { nodes: 2 }), job(2, { nodes: 2 }), job(3, { nodes: 1 })],
      tenants: [tenant("physics", quota)],
    };
    expect(cycle(input(given)).placements.map(({ allocation }) => allocation)).toEqual(placed);
    expect(codes(given, 2)).toEqual([code]);
  });

  it("limit the pool of sensitive work over all tenants", () => {
    const given = {
      isFifo: true,
      nodes: ["a", "b", "c", "d", "e", "f"].map((id) => node(id)),
      pending: [job(1, { nodes: 2 }), job(2, { nodes: 2, tenant: "biology" }), job(3, { nodes: 1, max: 4 })],
      tenants: [tenant("physics"), tenant("biology")],
      pool: { limit: 5, current: 2 },
    };
    const { placements } = cycle(input(given));
    expect(placements.map(({ allocation, nodes }) => [allocation, nodes.length])).toEqual([
      ["1", 2],
      ["3", 1],
    ]);
    expect(codes(given, 2)).toEqual(["sensitive_pool"]);
  });

  it("reduce a range, and leave an allocation without headroom unreserved", () => {
    const given = {
      nodes: ["a", "b", "c", "d"].map((id) => node(id)),
      pending: [job(1, { nodes: 1, max: 4 }), job(2, { nodes: 2 }), job(3, { tenant: "biology", waited: -1 })],
      tenants: [tenant("physics", { maxNodes: 3 }), tenant("biology")],
    };
    const result = cycle(input(given));
    expect(result.placements.map(({ allocation, nodes }) => [allocation, nodes.length])).toEqual([
      ["1", 3],
      ["3", 1],
    ]);
    expect(result.reservations).toEqual([]);
  });
});

describe("reasons", () => {
  const machine = {
    nodes: [
      node("a", { gpuType: "GH200", gpuCount: 4 }),
      busy("b"),
      node("c", { free: false, usable: false, notFreeBecause: "drained" }),
    ],
    releases: [release(60, "b")],
  };

  it("name the constraints that no node meets, with counts", () => {
    const given = { ...machine, pending: [job(1, { nodes: 2, constraints: { gpuType: "GH200" } })] };
    expect(codes(given, 1)).toEqual(["no_matching_nodes"]);
    expect(text(given, 1)).toMatch(/^Needs 2 nodes; 1 of the 3 there are suit it \(.*drained: 1.*\)\.$/);
  });

  it("name the required nodes that are not free", () => {
    const never = { ...machine, pending: [job(1, { constraints: { requiredNodes: nodeIds("c") } })] };
    expect(codes(never, 1)).toEqual(["no_matching_nodes"]);
    const later = { ...machine, pending: [job(1, { constraints: { requiredNodes: nodeIds("b") } })] };
    expect(codes(later, 1)).toEqual(["busy"]);
    expect(text(later, 1)).toBe("Needs 1 node; of its required nodes these are not free now: b.");
    const many = { ...machine, pending: [job(1, { constraints: { requiredNodes: nodeIds("a", "b") } })] };
    expect(text(many, 1)).toContain("2 nodes are required by name, but at most 1 asked for");
  });

  it("name the figures of busy nodes", () => {
    expect(text({ ...machine, pending: [job(1, { nodes: 2 })] }, 1)).toBe(
      "Needs 2 nodes; 2 match, 1 of them free now.",
    );
  });

  it("name the reservations of the free nodes and their start", () => {
    const given = { ...machine, isFifo: true, pending: [job(1, { nodes: 2, waited: 1 }), job(2, { minutes: 90 })] };
    expect(codes(given, 2)).toEqual(["reserved"]);
    expect(text(given, 2)).toBe("Needs 1 node; 1 match and are free, 1 of them reserved for 1 (starts in 1 h).");
  });

  it("name the priority of other jobs where overtaking is not allowed", () => {
    const given = { ...machine, backfillDepth: 0, isFifo: true, pending: [job(1, { nodes: 2, waited: 1 }), job(2)] };
    expect(codes(given, 2)).toEqual(["priority"]);
  });

  it("list all causes at once", () => {
    const tenants = [tenant("physics", { maxNodes: 1 })];
    const given = { ...machine, tenants, pending: [job(1, { nodes: 2 })] };
    expect(codes(given, 1)).toEqual(["quota_nodes", "busy"]);
    expect(text(given, 1)).toContain("tenant physics uses 0 of at most 1 nodes, this needs 2");
  });

  it("on demand equal those of the cycle, and are empty for a starting or unknown allocation", () => {
    const given = input({ ...machine, pending: [job(1), job(2, { nodes: 2 })] });
    expect(reasonsFor(given, allocationId(2))).toEqual(cycle(given).reasons.get(allocationId(2)));
    expect(reasonsFor(given, allocationId(1))).toEqual([]);
    expect(reasonsFor(given, allocationId(77))).toEqual([]);
  });
});
