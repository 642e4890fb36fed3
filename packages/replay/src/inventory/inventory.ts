// The machine to replay on: nodes with their groups, hardware and conformance. Without an inventory it is a number of
// equal nodes in one group.

import { type Capabilities, type GroupId, type NodeId, unchecked, type VClusterId } from "@lattice/core";

export interface InventoryNode {
  readonly id: NodeId;
  readonly group: GroupId;
  readonly conformance: string;
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly features: readonly string[];
  /** `null` when the node serves all vClusters. */
  readonly homeVCluster: VClusterId | null;
  /** The topology from a capture. Absent for a uniform node. */
  readonly topology?: NodeTopology;
}

/** Capabilities in addition to the basic ones, as the agent reported them. */
export type NodeTopology = Pick<Capabilities, "cxlMemoryBytes" | "powerWatts" | "gpuTopology" | "memoryTopology">;

export interface Inventory {
  /** Sorted by id. */
  readonly nodes: readonly InventoryNode[];
}

export const equalNodes = (count: number): Inventory => {
  const digits = String(count).length;
  const node = { ...BARE, group: unchecked.group("g1") };
  return { nodes: Array.from({ length: count }, (_, i) => ({ ...node, id: nodeId("n", i + 1, digits) })) };
};

/** A node without hardware properties. */
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
  unchecked.node(`${prefix}${String(number).padStart(digits, "0")}`);
