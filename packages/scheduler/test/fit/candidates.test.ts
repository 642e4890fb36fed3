// Which nodes satisfy which constraints, and which required nodes are available.

import { NO_CONSTRAINTS } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { matchFor } from "../../src/fit/candidates.ts";
import { machineOf } from "../../src/machine/machine.ts";
import type { Match } from "../../src/machine/match.ts";
import { busy, input, node, nodeIds } from "../make.ts";

const machine = machineOf(
  input({
    nodes: [
      node("a", {
        gpuType: "GH200",
        gpuCount: 4,
        memoryBytes: 4096,
        cxlMemoryBytes: 4096,
        cpuCores: 72,
        features: ["nvme", "ib"],
      }),
      busy("b", { gpuType: "gh200", gpuCount: 2, memoryBytes: 2048, cpuCores: 72, features: ["ib"] }),
      node("c", { cpuCores: 128 }),
      node("d", { free: false, usable: false, notFreeBecause: "drained", cpuCores: 128 }),
    ],
  }),
);

const listed = ({ cells, excluded }: Match): string[] =>
  machine.nodes.flatMap(({ id }, index) =>
    cells.includes(machine.cells.ofNode[index] ?? -1) && !excluded.has(index) ? [id] : [],
  );

describe("candidates", () => {
  it.each([
    { name: "anything: every usable node, busy ones too", constraints: {}, expected: ["a", "b", "c"] },
    { name: "GPU type without regard to case", constraints: { gpuType: "Gh200" }, expected: ["a", "b"] },
    { name: "GPU count", constraints: { gpuCount: 3 }, expected: ["a"] },
    { name: "GPU type and count", constraints: { gpuType: "GH200", gpuCount: 4 }, expected: ["a"] },
    { name: "memory", constraints: { memoryBytes: 2048 }, expected: ["a", "b"] },
    { name: "memory beyond what is local", constraints: { memoryBytes: 8192 }, expected: [] },
    { name: "memory with expanders", constraints: { memoryBytes: 8192, allowCxlMemory: true }, expected: ["a"] },
    { name: "unified memory", constraints: { requireUnifiedMemory: true }, expected: ["a", "b"] },
    { name: "cores", constraints: { cpuCores: 100 }, expected: ["c"] },
    { name: "all features", constraints: { features: ["ib", "nvme"] }, expected: ["a"] },
    { name: "excluded nodes", constraints: { excludedNodes: nodeIds("a", "missing") }, expected: ["b", "c"] },
    { name: "all at once", constraints: { gpuCount: 2, excludedNodes: nodeIds("a") }, expected: ["b"] },
    { name: "nothing fits", constraints: { gpuType: "H100" }, expected: [] },
  ])("$name", ({ constraints, expected }) => {
    const match = matchFor(machine, { ...NO_CONSTRAINTS, ...constraints });
    expect(listed(match)).toEqual(expected);
    expect(match.size).toBe(expected.length);
    expect([...match.perGroup]).toEqual([expected.length]);
  });

  it.each([
    { name: "none", requiredNodes: nodeIds(), expected: [] },
    { name: "in order of id, once", requiredNodes: nodeIds("c", "a", "c"), expected: [0, 2] },
    { name: "one is unknown", requiredNodes: nodeIds("a", "missing"), expected: null },
    { name: "one is drained", requiredNodes: nodeIds("d"), expected: null },
  ])("required nodes: $name", ({ requiredNodes, expected }) => {
    expect(matchFor(machine, { ...NO_CONSTRAINTS, requiredNodes }).required).toEqual(expected);
  });

  it("are computed once for equal constraints", () => {
    expect(matchFor(machine, { ...NO_CONSTRAINTS, features: ["ib"] })).toBe(
      matchFor(machine, { ...NO_CONSTRAINTS, features: ["ib"], topology: "tight" }),
    );
  });
});
