// Whether a request could ever start: by rules, by a search over all sets of nodes, and by a cycle on an idle machine.

import { type Constraints, NO_CONSTRAINTS } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cycle, largestFeasible, type NodeInput, type PendingInput } from "../../src/index.ts";
import { isFeasible } from "../../src/place/feasibility.ts";
import { someJob, someNodes } from "../arbitrary.ts";
import { draftOf, jobFrom, jobOn } from "../drafts.ts";
import { allocationId, busy, input, type JobFields, node, nodeIds, nodesIn, tenant } from "../make.ts";

const six = [...nodesIn("g1", "a1", "a2", "a3"), ...nodesIn("g2", "b1", "b2"), ...nodesIn("g3", "c1")];
const mixed = [
  node("x1", { in: "g1", conformance: "x" }),
  node("x2", { in: "g2", conformance: "x" }),
  node("y1", { in: "g1", conformance: "y" }),
  node("u1", { in: "g1", conformance: "" }),
  node("u2", { in: "g1", conformance: "" }),
];

describe("a request is feasible", () => {
  const cases: { name: string; nodes?: readonly NodeInput[]; fields: JobFields; expected: boolean }[] = [
    { name: "with as many nodes as there are", fields: { nodes: 6 }, expected: true },
    { name: "not with one more", fields: { nodes: 7 }, expected: false },
    { name: "within the limit of groups", fields: { nodes: 5, constraints: { maxGroups: 2 } }, expected: true },
    {
      name: "not with more nodes than the largest groups hold",
      fields: { nodes: 6, constraints: { maxGroups: 2 } },
      expected: false,
    },
    {
      name: "with required nodes",
      fields: { nodes: 2, constraints: { requiredNodes: nodeIds("a1", "c1") } },
      expected: true,
    },
    {
      name: "not with more required nodes than its maximum",
      fields: { nodes: 1, constraints: { requiredNodes: nodeIds("a1", "c1") } },
      expected: false,
    },
    {
      name: "with more required nodes than its minimum",
      fields: { nodes: 1, max: 2, constraints: { requiredNodes: nodeIds("a1", "c1") } },
      expected: true,
    },
    {
      name: "not with required nodes in more groups than allowed",
      fields: { nodes: 2, constraints: { maxGroups: 1, requiredNodes: nodeIds("a1", "c1") } },
      expected: false,
    },
    {
      name: "not with a required node whose group is too small",
      fields: { nodes: 3, constraints: { maxGroups: 1, requiredNodes: nodeIds("b1") } },
      expected: false,
    },
    {
      name: "with a required node whose group suffices",
      fields: { nodes: 2, constraints: { maxGroups: 1, requiredNodes: nodeIds("b1") } },
      expected: true,
    },
    {
      name: "not when excluded nodes are missing",
      fields: { nodes: 6, constraints: { excludedNodes: nodeIds("a1") } },
      expected: false,
    },
    {
      name: "not when the excluded node is missing in its only group",
      fields: { nodes: 3, constraints: { maxGroups: 1, excludedNodes: nodeIds("a1") } },
      expected: false,
    },
    {
      name: "with one conformance value",
      nodes: mixed,
      fields: { nodes: 2, constraints: { requireConformance: true } },
      expected: true,
    },
    {
      name: "not with three nodes of one value",
      nodes: mixed,
      fields: { nodes: 3, constraints: { requireConformance: true } },
      expected: false,
    },
    {
      name: "not with one value in one group",
      nodes: mixed,
      fields: { nodes: 2, constraints: { requireConformance: true, maxGroups: 1 } },
      expected: false,
    },
    {
      name: "with one node of unknown conformance",
      nodes: mixed,
      fields: { nodes: 1, constraints: { requireConformance: true } },
      expected: true,
    },
    {
      name: "not with required nodes of two values",
      nodes: mixed,
      fields: { nodes: 2, constraints: { requireConformance: true, requiredNodes: nodeIds("x1", "y1") } },
      expected: false,
    },
    { name: "on busy nodes", nodes: [busy("a"), busy("b")], fields: { nodes: 2 }, expected: true },
    {
      name: "not on drained nodes",
      nodes: [node("a"), node("b", { usable: false, free: false })],
      fields: { nodes: 2 },
      expected: false,
    },
  ];
  it.each(cases)("$name", ({ nodes = six, fields, expected }) => {
    const draft = draftOf({ nodes });
    const wanted = jobFrom(draft, 1, fields);
    expect(isFeasible(draft.machine, wanted)).toBe(expected);
    // The second answer comes from memory.
    expect(isFeasible(draft.machine, wanted)).toBe(expected);
  });

  it("exactly when a cycle starts it on an idle machine", () => {
    let feasible = 0;
    const someConstraints = fc.record({
      maxGroups: fc.constantFrom(undefined, 1, 2),
      requireConformance: fc.boolean(),
    });
    fc.assert(
      fc.property(someNodes, someJob, someConstraints, (nodes, request, { maxGroups, requireConformance }) => {
        const idle = nodes.map((each) => ({
          ...each,
          free: each.usable,
          notFreeBecause: each.usable ? "" : "drained",
        }));
        const pending: PendingInput = {
          ...request,
          id: allocationId(1),
          // A fixed size: a range with one conformance value has a rule of its own.
          maxNodes: requireConformance ? request.minNodes : request.maxNodes,
          constraints: {
            ...request.constraints,
            requireConformance,
            ...(maxGroups === undefined ? null : { maxGroups }),
          },
        };
        const given = input({ nodes: idle, pending: [pending], tenants: [tenant("physics"), tenant("biology")] });
        const draft = draftOf(given);
        const isPossible = isFeasible(draft.machine, jobOn(draft, pending));
        expect(cycle(given).placements.length === 1).toBe(isPossible);
        if (isPossible) feasible += 1;
      }),
      { numRuns: 400 },
    );
    expect(feasible).toBeGreaterThan(60);
  });
});

describe("the largest feasible request", () => {
  it.each<{ name: string; constraints: Partial<Constraints>; expected: number }>([
    { name: "takes all nodes", constraints: {}, expected: 6 },
    { name: "keeps to one group", constraints: { maxGroups: 1 }, expected: 3 },
    { name: "keeps to two groups", constraints: { maxGroups: 2 }, expected: 5 },
    { name: "has its required node in it", constraints: { maxGroups: 1, requiredNodes: nodeIds("b1") }, expected: 2 },
    { name: "leaves excluded nodes out", constraints: { excludedNodes: nodeIds("a1", "b1") }, expected: 4 },
    { name: "is nothing when nothing matches", constraints: { gpuCount: 1 }, expected: 0 },
    { name: "is nothing when a required node is unknown", constraints: { requiredNodes: nodeIds("zz") }, expected: 0 },
  ])("$name", ({ constraints, expected }) => {
    expect(largestFeasible(six, { ...NO_CONSTRAINTS, ...constraints })).toBe(expected);
  });

  it("is feasible, and one node more is not", () => {
    fc.assert(
      fc.property(someNodes, someJob, fc.constantFrom(undefined, 1, 2), (nodes, { constraints }, maxGroups) => {
        const wanted = { ...constraints, ...(maxGroups === undefined ? null : { maxGroups }) };
        const most = largestFeasible(nodes, wanted);
        const draft = draftOf({ nodes });
        const fits = (count: number): boolean =>
          isFeasible(draft.machine, jobFrom(draft, count, { nodes: count, constraints: wanted }));
        if (most > 0) expect(fits(most)).toBe(true);
        expect(fits(most + 1)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
