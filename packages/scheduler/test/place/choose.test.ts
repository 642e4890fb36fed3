// Which cells are taken within the chosen groups, one sort key at a time, and what packing and sharing must not break.

import type { NodeId, TenantId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type CycleInput, cycle, type NodeInput, type PendingInput } from "../../src/index.ts";
import { findHardware } from "../../src/machine/match.ts";
import { choose } from "../../src/place/choose.ts";
import { type NodeRequest, toNodeRequest } from "../../src/place/node-request.ts";
import { draftOf, jobFrom } from "../drafts.ts";
import { input, type JobFields, job, node, nodeIds, nodesIn } from "../make.ts";

/** The nodes that `choose` takes out of all nodes, the lowest numbers of each cell. */
function chosen(nodes: readonly NodeInput[], count: number, change: Partial<NodeRequest> = {}): string | null {
  const { machine } = draftOf({ nodes });
  const { cells } = machine;
  const hardware = findHardware(cells, machine.groups.length, new Uint8Array(machine.kinds.length).fill(1));
  const counts = Int32Array.from(
    { length: cells.count },
    (_, cell) => (cells.start[cell + 1] ?? 0) - (cells.start[cell] ?? 0),
  );
  const request: NodeRequest = {
    atLeast: count,
    atMost: count,
    tight: false,
    maxGroups: Number.POSITIVE_INFINITY,
    sameConformance: false,
    required: 0,
    requiredGroups: [],
    requiredConformance: [],
    isInefficient: false,
    isUnarranged: true,
    tiers: [],
    kindMerit: null,
    kindRanks: null,
    ...change,
  };
  const picks = choose(machine, { cells: hardware.cells, counts, total: hardware.size }, request);
  if (picks === null) return null;
  const taken = picks.flatMap(({ cell, count: part }) => [
    ...cells.nodes.slice(cells.start[cell], (cells.start[cell] ?? 0) + part),
  ]);
  return taken.map((at) => machine.nodes[at]?.id).join(" ");
}

describe("the choice within one group", () => {
  const alike = (ids: string, conformance: string, fields: Partial<NodeInput> = {}): NodeInput[] =>
    ids.split(" ").map((id) => node(id, { conformance, ...fields }));

  it.each<{ name: string; nodes: NodeInput[]; count: number; change?: Partial<NodeRequest>; expected: string }>([
    {
      name: "nodes that have not drifted come first",
      nodes: [...alike("a", "odd"), ...alike("b c", "x")],
      count: 1,
      expected: "b",
    },
    {
      name: "a drifted node fills what the others leave",
      nodes: [...alike("a", "odd"), ...alike("b c", "x")],
      count: 3,
      expected: "b c a",
    },
    {
      name: "the most common fingerprint comes first",
      nodes: [...alike("a", "y"), ...alike("b c", "x"), ...alike("d", "z")],
      count: 1,
      expected: "b",
    },
    {
      name: "the most common fingerprint is completed by the next",
      nodes: [...alike("a", "y"), ...alike("b c", "x"), ...alike("d", "z")],
      count: 3,
      expected: "b c d",
    },
    {
      name: "the better kind comes first among equal fingerprints",
      nodes: [...alike("a b", "x"), ...alike("c d", "x", { gpuCount: 4 })],
      count: 2,
      change: { kindMerit: Float64Array.of(0, 1) },
      expected: "c d",
    },
    {
      name: "the better kind comes first, the other way round",
      nodes: [...alike("a b", "x"), ...alike("c d", "x", { gpuCount: 4 })],
      count: 2,
      change: { kindMerit: Float64Array.of(1, 0) },
      expected: "a b",
    },
    {
      name: "the better kind does not come before the more common fingerprint",
      nodes: [...alike("a", "y", { gpuCount: 4 }), ...alike("b c", "x")],
      count: 1,
      change: { kindMerit: Float64Array.of(1, 0) },
      expected: "b",
    },
    {
      name: "cells follow in order where all else is equal",
      nodes: [...alike("a", "x"), ...alike("b", "x", { gpuCount: 4 })],
      count: 1,
      expected: "a",
    },
  ])("$name", ({ nodes, count, change = {}, expected }) => {
    expect(chosen(nodes, count, change)).toBe(expected);
  });
});

describe("the choice within several groups", () => {
  // The smaller group has the lower node numbers.
  const nodes = [...nodesIn("g2", "a", "b"), ...nodesIn("g1", "c", "d", "e")];

  it("the groups are filled in their order, the last one in part", () => {
    expect(chosen(nodes, 4)).toBe("c d e a");
  });

  it("cheaper hardware is used where it costs no further group", () => {
    const mixed = [node("a", { in: "g1", gpuCount: 4 }), node("b", { in: "g1" }), node("c", { in: "g2" })];
    const cheap = { tiers: [Int32Array.of(1, 2)] };
    expect(chosen(mixed, 1, cheap)).toBe("b");
    // Both nodes without GPUs would take two groups.
    expect(chosen(mixed, 2, cheap)).toBe("a b");
  });
});

describe("a range of nodes with one fingerprint", () => {
  const sameConformance = { atLeast: 1, atMost: 3, sameConformance: true };

  it.each([
    { name: "takes one node where no fingerprint is known", values: ["", "", ""], expected: "a" },
    { name: "takes one node where all fingerprints differ", values: ["x", "y", "z"], expected: "a" },
    { name: "takes all nodes of the most common fingerprint", values: ["x", "y", "y"], expected: "b c" },
  ])("$name", ({ values, expected }) => {
    const nodes = values.map((conformance, i) => node("abc".charAt(i), { conformance }));
    expect(chosen(nodes, 1, sameConformance)).toBe(expected);
  });

  it("with a minimum of two takes nothing where no fingerprint is known", () => {
    const nodes = [node("a", { conformance: "" }), node("b", { conformance: "" })];
    expect(chosen(nodes, 2, { sameConformance: true })).toBeNull();
  });
});

describe("the request of a job", () => {
  const draft = draftOf({ nodes: nodesIn("g1", "a", "b", "c") });
  const requestOf = (fields: JobFields): NodeRequest =>
    toNodeRequest(draft.machine, jobFrom(draft, 1, fields), fields.max ?? fields.nodes ?? 1);

  it.each<{ name: string; fields: JobFields; expected: boolean }>([
    { name: "without wishes", fields: { nodes: 2 }, expected: true },
    { name: "that is tight", fields: { nodes: 2, constraints: { topology: "tight" } }, expected: false },
    { name: "with a limit of groups", fields: { nodes: 2, constraints: { maxGroups: 2 } }, expected: false },
    { name: "for one fingerprint", fields: { nodes: 2, constraints: { requireConformance: true } }, expected: false },
    {
      name: "with a required node",
      fields: { nodes: 2, constraints: { requiredNodes: nodeIds("a") } },
      expected: false,
    },
  ])("$name may be packed: $expected", ({ fields, expected }) => {
    expect(requestOf(fields).isUnarranged).toBe(expected);
  });

  it("counts nodes in addition to the required ones", () => {
    const constraints = { requiredNodes: nodeIds("c", "a") };
    expect(requestOf({ nodes: 2, max: 3, constraints })).toMatchObject({
      atLeast: 0,
      atMost: 1,
      required: 2,
      requiredGroups: [0],
      requiredConformance: [0],
    });
  });
});

describe("packing", () => {
  const packed = (nodes: readonly NodeInput[], fields: JobFields): string[] =>
    cycle(input({ isFifo: true, packsNodes: true, nodes, pending: [job(1, fields)] })).placements.map((placement) =>
      placement.nodes.join(" "),
    );

  it("respects a limit of groups", () => {
    const nodes = [...nodesIn("g1", "a"), ...nodesIn("g2", "b"), ...nodesIn("g3", "c", "d")];
    expect(packed(nodes, { nodes: 2 })).toEqual(["a b"]);
    expect(packed(nodes, { nodes: 2, constraints: { maxGroups: 1 } })).toEqual(["c d"]);
  });

  it("uses the first of equally full groups in natural order, not by node", () => {
    expect(packed([...nodesIn("g10", "a"), ...nodesIn("g9", "b")], {})).toEqual(["b"]);
  });
});

describe("a shared node", () => {
  const whole = { cpuCores: 8, memoryBytes: 1024, gpuCount: 4 };
  const limits = [
    { what: "cores", constraints: { cpuCores: 4, memoryBytes: 1 } },
    { what: "memory", constraints: { cpuCores: 1, memoryBytes: 512 } },
    { what: "GPUs", constraints: { gpuCount: 2, cpuCores: 1, memoryBytes: 1 } },
  ];
  const parts = (constraints: JobFields["constraints"]): PendingInput[] =>
    [1, 2, 3].map((id) => ({
      ...job(id, { waited: 9 - id, ...(constraints && { constraints }) }),
      canShareNode: true,
    }));
  const placed = (given: Partial<CycleInput>): string[] =>
    cycle(input({ isFifo: true, ...given })).placements.map(
      ({ allocation, nodes }) => `${allocation}: ${nodes.join(" ")}`,
    );

  it.each(limits)("opened by the plan is full when its $what are used up", ({ constraints }) => {
    const nodes = [node("n1", whole), node("n2", whole)];
    expect(placed({ nodes, sharedNodes: [], pending: parts(constraints) })).toEqual(["1: n1", "2: n1", "3: n2"]);
  });

  it.each(limits)("of an earlier plan is full when its $what are used up", ({ constraints }) => {
    const busyNode = node("n1", { ...whole, free: false, notFreeBecause: "busy" });
    const shared = { node: "n1" as NodeId, tenant: "physics" as TenantId, capabilities: busyNode, remaining: whole };
    expect(placed({ nodes: [busyNode], sharedNodes: [shared], pending: parts(constraints) })).toEqual([
      "1: n1",
      "2: n1",
    ]);
  });
});
