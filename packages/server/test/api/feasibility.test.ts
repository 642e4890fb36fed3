// Requests that no nodes of the cluster satisfy: what is named, and what is not refused.

import { type AllocationSpec, minimalSpec, NO_CONSTRAINTS } from "@lattice/core";
import { expect, test } from "vitest";
import { impossible } from "../../src/api/handlers/feasibility.ts";
import { memoryPlane } from "./memory-plane.ts";

type Change = Partial<AllocationSpec["resources"]["constraints"]> & { readonly nodes?: number };

const specOf = ({ nodes = 1, ...constraints }: Change): AllocationSpec =>
  minimalSpec({
    vcluster: "hpc-batch" as never,
    resources: { minNodes: nodes, maxNodes: nodes, constraints: { ...NO_CONSTRAINTS, ...constraints } },
  });

/** Three nodes of 8 cores and 16 GB. */
function clusterOfThree() {
  const plane = memoryPlane();
  for (const name of ["n1", "n2", "n3"]) plane.addNode(name, "127.0.0.1", name === "n3" ? ["nvme"] : []);
  return plane.view();
}

test.each<[string, Change, string | null]>([
  ["a plain request", {}, null],
  ["all nodes", { nodes: 3 }, null],
  ["more nodes than there are", { nodes: 4 }, "it needs 4 nodes, but the cluster has only 3"],
  ["cores of a node", { cpuCores: 8 }, null],
  ["more cores", { cpuCores: 9 }, 'the closest, "n1", has 8 cores (requested: 9)'],
  ["more memory", { memoryBytes: 2 ** 35 }, "has 16 GB of memory (requested: 32 GB)"],
  ["a GPU", { gpuCount: 1 }, "has no GPU (requested: 1)"],
  ["a kind of GPU", { gpuType: "H100" }, "has no GPU (requested: H100)"],
  ["a feature of some nodes", { features: ["nvme"] }, null],
  ["a feature on too many nodes", { nodes: 2, features: ["nvme"] }, "only 1 of 3 satisfy its constraints"],
  ["a misspelt feature", { features: ["nvmee"] }, 'the nearest is "nvme"'],
  ["an unknown node", { requiredNodes: ["n9" as never] }, 'there is no node "n9"; the nearest name is "n1"'],
  ["a required node without the cores", { requiredNodes: ["n1" as never], features: ["nvme"] }, '"n1"'],
  ["every node excluded", { excludedNodes: ["n1", "n2", "n3"] as never }, "is excluded"],
])("%s", (_, change, expected) => {
  const found = impossible(clusterOfThree(), specOf(change)).map(({ detail }) => detail);
  if (expected === null) expect(found).toEqual([]);
  else expect(found.join()).toContain(expected);
});

test("a cluster without nodes refuses nothing", () => {
  expect(impossible(memoryPlane().view(), specOf({ nodes: 99, gpuCount: 8 }))).toEqual([]);
});
