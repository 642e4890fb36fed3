// The machine of a cycle: sorted nodes, free counts, the hardware index that cycles share, and its buffers.

import type { GroupId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCycleCache } from "../../src/index.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { nodeIdsOf, nodeNumbersOf } from "../../src/machine/node-ids.ts";
import { cachedBuffers, createPlanBuffers } from "../../src/machine/plan-buffers.ts";
import { busy, input, node, nodeIds } from "../make.ts";

describe("a machine", () => {
  it("sorts nodes by id and groups in natural order", () => {
    const machine = machineOf(
      input({ nodes: [node("c", { in: "g10" }), busy("a", { in: "g9" }), node("b", { in: "g9" })] }),
    );
    expect(machine.nodes.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(machine.groups).toEqual(["g9", "g10"]);
    expect([...machine.groupOf]).toEqual([0, 0, 1]);
    expect([...machine.freeIn]).toEqual([1, 1]);
    expect(machine.freeCount).toBe(2);
  });

  it("numbers the unknown conformance 0, whether it occurs or not", () => {
    const numbers = (...values: string[]): number[] => [
      ...machineOf(input({ nodes: values.map((conformance, i) => node(`n${i}`, { conformance })) })).conformanceOf,
    ];
    expect(numbers("y", "x", "y")).toEqual([2, 1, 2]);
    expect(numbers("y", "", "x")).toEqual([2, 0, 1]);
  });

  it("has the congestion of each group, 0 where it is not measured, and none without the signal", () => {
    const nodes = [node("a", { in: "g1" }), node("b", { in: "g2" })];
    const congestion = new Map([["g2" as GroupId, 0.7]]);
    expect([...(machineOf(input({ nodes, signals: { congestion } })).congestion ?? [])]).toEqual([0, 0.7]);
    expect(machineOf(input({ nodes })).congestion).toBeNull();
  });

  it("ranks kinds only where the vCluster packs", () => {
    const nodes = [node("a", { gpuCount: 4 }), node("b")];
    expect([...(machineOf(input({ nodes, packsNodes: true })).kindRanks ?? [])]).toEqual([1, 0]);
    expect(machineOf(input({ nodes })).kindRanks).toBeNull();
  });

  it("without nodes is empty", () => {
    const machine = machineOf(input({}));
    expect([machine.cells.count, machine.freeCount, machine.usableCount, machine.groups.length]).toEqual([0, 0, 0, 0]);
  });
});

describe("the hardware index of a cache", () => {
  const nodes = [node("a"), node("b", { gpuCount: 4 })];
  const [a, b] = nodes as [ReturnType<typeof node>, ReturnType<typeof node>];
  it.each([
    { name: "the same list", next: nodes, isShared: true },
    { name: "equal records", next: [{ ...a }, { ...b }], isShared: true },
    { name: "a node that became busy", next: [{ ...a, free: false, notFreeBecause: "busy" }, b], isShared: true },
    { name: "a drained node", next: [{ ...a, usable: false }, b], isShared: false },
    { name: "a node of another group", next: [{ ...a, group: "g7" as GroupId }, b], isShared: false },
    { name: "a node more", next: [a, b, node("c")], isShared: false },
    { name: "a node less", next: [a], isShared: false },
  ])("is shared with the next cycle over $name: $isShared", ({ next, isShared }) => {
    const cache = createCycleCache();
    const first = machineOf(input({ nodes, cache }));
    const second = machineOf(input({ nodes: next, cache }));
    expect(second.cells === first.cells).toBe(isShared);
    expect(second.matches === first.matches).toBe(isShared);
    expect(second.freeCount).toBe(next.filter(({ free }) => free).length);
    // The list of the last cycle is the one that the next is compared with.
    expect(machineOf(input({ nodes: next, cache })).cells).toBe(second.cells);
  });

  it("is not shared without a cache", () => {
    expect(machineOf(input({ nodes })).cells).not.toBe(machineOf(input({ nodes })).cells);
  });
});

describe("plan buffers", () => {
  it("are reused by cycles over as many nodes", () => {
    const cache = createCycleCache();
    const buffers = cachedBuffers(cache, 40);
    expect(cachedBuffers(cache, 40)).toBe(buffers);
    expect(cachedBuffers(cache, 41)).not.toBe(buffers);
    expect(cachedBuffers(cache, 41).free).toHaveLength(2);
    expect(cachedBuffers(createCycleCache(), 41)).not.toBe(cachedBuffers(cache, 41));
  });

  it("mark with a number that no node has yet", () => {
    const { marks } = createPlanBuffers(2);
    const first = marks.next();
    marks.of[0] = first;
    const second = marks.next();
    expect(second).not.toBe(first);
    expect([...marks.of]).not.toContain(second);
  });
});

describe("node ids and numbers", () => {
  const machine = machineOf(input({ nodes: ["a", "b", "c"].map((id) => node(id)) }));

  it("convert into each other, ascending, without unknown nodes", () => {
    expect(nodeNumbersOf(machine, nodeIds("c", "missing", "a"))).toEqual([0, 2]);
    expect(nodeIdsOf(machine, [0, 2])).toEqual(["a", "c"]);
    expect(nodeNumbersOf(machine, nodeIdsOf(machine, [1]))).toEqual([1]);
  });

  it("are looked up again on a machine with other nodes", () => {
    const ids = nodeIds("b", "c");
    expect(nodeNumbersOf(machine, ids)).toEqual([1, 2]);
    const other = machineOf(input({ nodes: [node("b"), node("c"), node("d")] }));
    expect(nodeNumbersOf(other, ids)).toEqual([0, 1]);
    expect(nodeNumbersOf(machine, ids)).toEqual([1, 2]);
  });
});
