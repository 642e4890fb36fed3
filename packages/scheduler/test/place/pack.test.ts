// Where vClusters that pack place their work: on nearly full groups and nodes before empty ones.

import type { VClusterId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type CycleInput, cycle, snapshotFor } from "../../src/index.ts";
import { busy, input, type JobFields, job, node, nodesIn } from "../make.ts";
import { createHistory, VCLUSTER } from "../snapshot/history.ts";

const placed = (given: Partial<CycleInput>): string[] =>
  cycle(input({ isFifo: true, packsNodes: true, ...given })).placements.map(({ nodes }) => nodes.join(" "));

const groups = [
  ...nodesIn("g1", "a1", "a2", "a3", "a4"),
  ...[busy("b1", { in: "g2" }), busy("b2", { in: "g2" }), busy("b3", { in: "g2" }), node("b4", { in: "g2" })],
  ...[busy("c1", { in: "g3" }), node("c2", { in: "g3" }), node("c3", { in: "g3" })],
];

describe("packing", () => {
  const tight = { topology: "tight" as const };

  it.each<{ name: string; jobs: readonly JobFields[]; expected: readonly string[] }>([
    { name: "the fullest group", jobs: [{}], expected: ["b4"] },
    { name: "then the next fullest", jobs: [{}, {}, {}], expected: ["b4", "c2", "c3"] },
    { name: "what is left here and there before an empty group", jobs: [{ nodes: 3 }], expected: ["b4 c2 c3"] },
    { name: "an empty group last", jobs: [{ nodes: 4 }], expected: ["a1 b4 c2 c3"] },
    { name: "the most of a range", jobs: [{ nodes: 1, max: 7 }], expected: ["a1 a2 a3 a4 b4 c2 c3"] },
    { name: "one group for a tight request", jobs: [{ nodes: 2, constraints: tight }], expected: ["c2 c3"] },
  ])("uses $name", ({ jobs, expected }) => {
    const pending = jobs.map((fields, i) => job(i + 1, { waited: 10 - i, ...fields }));
    expect(placed({ nodes: groups, pending })).toEqual(expected);
  });

  it("uses the hardware with the least to spare, in any group", () => {
    const nodes = [
      node("a", { in: "g1", gpuCount: 8 }),
      node("b", { in: "g2", gpuCount: 4 }),
      node("c", { in: "g2", gpuCount: 4 }),
      node("d", { in: "g3", memoryBytes: 4096 }),
      node("e", { in: "g4" }),
      node("f", { in: "g4" }),
    ];
    const taken = (gpuCount: number): string[] => placed({ nodes, pending: [job(1, { constraints: { gpuCount } })] });
    expect([taken(0), taken(2), taken(5)]).toEqual([["e"], ["b"], ["a"]]);
  });

  it("depends on the scheduler of the vCluster", () => {
    const history = createHistory(3, 1);
    const batch = history.state.vcluster(VCLUSTER);
    if (batch === undefined) throw new Error("no vCluster");
    const service = { ...batch, id: "services" as VClusterId, scheduler: "service_bin_pack" as const };
    const now = history.state.at;
    expect(snapshotFor(history.state, service, now).packsNodes).toBe(true);
    expect(snapshotFor(history.state, batch, now).packsNodes).toBeUndefined();
  });
});
