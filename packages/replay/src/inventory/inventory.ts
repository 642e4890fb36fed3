// The machine to replay on: nodes with their groups, hardware and conformance. Without an inventory it is
// a count of equal nodes in one group.

import type { Capabilities, GroupId, NodeId, VClusterId } from "@lattice/core";

export interface InventoryNode {
  readonly id: NodeId;
  readonly group: GroupId;
  readonly conformance: string;
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly features: readonly string[];
  /** Null: serves all vClusters. */
  readonly homeVCluster: VClusterId | null;
  /** What a capture tells of its inside; absent: a uniform node. */
  readonly beyond?: NodeInside;
}

/** As the agent told it. */
export type NodeInside = Pick<Capabilities, "cxlMemoryBytes" | "powerWatts" | "gpuTopology" | "memoryTopology">;

export interface Inventory {
  /** In order of id. */
  readonly nodes: readonly InventoryNode[];
}

export const equalNodes = (count: number): Inventory => {
  const digits = String(count).length;
  const node = { ...BARE, group: "g1" as GroupId };
  return { nodes: Array.from({ length: count }, (_, i) => ({ ...node, id: nodeId("n", i + 1, digits) })) };
};

/** Nothing but a place to run. */
export const BARE: Omit<InventoryNode, "id" | "group"> = {
  conformance: "",
  cpuCores: 1,
  memoryBytes: 0,
  gpuType: "",
  gpuCount: 0,
  features: [],
  homeVCluster: null,
};

export const nodeId = (prefix: string, number: number, digits: number): NodeId =>
  `${prefix}${String(number).padStart(digits, "0")}` as NodeId;
