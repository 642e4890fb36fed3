// Which hardware is left to other requests: kinds in demand come last, borrowed kinds after all others.

import type { NodeId, VClusterId } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TIER_LIMIT } from "../../src/base/bounds.ts";
import { matchFor } from "../../src/fit/candidates.ts";
import { createTiers, demandByKind } from "../../src/fit/demand.ts";
import type { CycleInput } from "../../src/index.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { someInput } from "../arbitrary.ts";
import { input, job, node, outcomeOf } from "../make.ts";

const gpu = (id: string, fields: object = {}) => node(id, { gpuCount: 4, gpuType: "GH200", ...fields });

/** Demand in nodes per node of the kind, by the id of the first node of the kind. */
function demandOf(given: Partial<CycleInput>): Record<string, number> {
  const full = input(given);
  const machine = machineOf(full);
  const demand = demandByKind(machine, full.pending);
  return Object.fromEntries(machine.kinds.map(({ id }: { id: NodeId }, kind) => [id, (demand[kind] as number) / 1e6]));
}

describe("demand by kind", () => {
  it("spreads each request over the nodes that match it", () => {
    const nodes = [node("a"), node("b"), gpu("c"), gpu("d")];
    const pending = [job(1, { nodes: 2 }), job(2, { nodes: 3, constraints: { gpuCount: 1 } })];
    expect(demandOf({ nodes, pending })).toEqual({ a: 0.5, c: 0.5 + 1.5 });
  });

  it("is zero with one kind only, and for requests that no node matches", () => {
    expect(demandOf({ nodes: [node("a")], pending: [job(1, { nodes: 9 })] })).toEqual({ a: 0 });
    const pending = [job(1, { constraints: { gpuType: "H100" } })];
    expect(demandOf({ nodes: [node("a"), gpu("b")], pending })).toEqual({ a: 0, b: 0 });
  });

  it("of a borrowed kind is above that of any other", () => {
    const nodes = [node("a"), gpu("b"), node("z", { lender: "other" as VClusterId })];
    const demand = demandOf({ nodes, pending: [job(1, { nodes: 100, constraints: { gpuCount: 1 } })] });
    expect(demand.z).toBeGreaterThan(demand.b as number);
  });

  it("does not depend on the order of the queue", () => {
    fc.assert(
      fc.property(someInput, (given) => {
        const machine = machineOf(given);
        expect(demandByKind(machine, [...given.pending].reverse())).toEqual(demandByKind(machine, given.pending));
      }),
      { numRuns: 100 },
    );
  });
});

describe("tiers of hardware", () => {
  it("leave out the kinds in highest demand, fewest kinds first", () => {
    const nodes = [node("a"), gpu("b"), gpu("c", { features: ["fast"] })];
    const pending = [
      job(1, { nodes: 1, constraints: { gpuCount: 1 } }),
      job(2, { nodes: 1, constraints: { features: ["fast"] } }),
    ];
    const machine = machineOf(input({ nodes }));
    const tiers = createTiers(machine, pending);
    const { hardware } = matchFor(machine, job(3).constraints);
    expect(tiers.cellsFor(hardware).map((cells) => [...cells])).toEqual([[0], [0, 1]]);
    expect(tiers.cellsFor(hardware)).toBe(tiers.cellsFor(hardware));
    expect(tiers.merit[0]).toBeGreaterThan(tiers.merit[2] as number);
  });

  it("are none where all demand is equal", () => {
    const machine = machineOf(input({ nodes: [node("a"), gpu("b")] }));
    const { hardware } = matchFor(machine, job(1).constraints);
    expect(createTiers(machine, [job(1)]).cellsFor(hardware)).toEqual([]);
  });

  it("are limited in number", () => {
    const nodes = Array.from({ length: 9 }, (_, i) => node(`n${i}`, { features: [`f${i}`] }));
    const pending = nodes.map((_, i) => job(i + 1, { nodes: i + 1, constraints: { features: [`f${i}`] } }));
    const machine = machineOf(input({ nodes }));
    const { hardware } = matchFor(machine, job(99).constraints);
    expect(createTiers(machine, pending).cellsFor(hardware)).toHaveLength(TIER_LIMIT);
  });
});

describe("a request that any node serves", () => {
  const wantsGpu = job(2, { nodes: 1, class: 1, constraints: { gpuCount: 4 } });

  it("leaves GPUs to the request behind it that needs them", () => {
    const given = { nodes: [gpu("a"), node("b")], pending: [job(1, { class: 9 }), wantsGpu] };
    expect(outcomeOf(given).placed).toEqual(["1: b", "2: a"]);
  });

  it("uses GPUs rather than a further group", () => {
    const nodes = [gpu("a", { in: "g1" }), gpu("b", { in: "g1" }), node("c", { in: "g2" }), node("d", { in: "g3" })];
    const given = { nodes, pending: [job(1, { nodes: 2, class: 9 }), wantsGpu] };
    expect(outcomeOf(given).placed).toEqual(["1: a b"]);
  });

  it("uses own nodes before borrowed ones, also where that uses GPUs", () => {
    const lender = "other" as VClusterId;
    const nodes = [gpu("b"), node("a", { lender })];
    const pending = [{ ...job(1, { class: 9 }), borrowsFrom: [lender] }, wantsGpu];
    expect(outcomeOf({ nodes, pending }).placed).toEqual(["1: b"]);
  });
});
