// One node as a cycle sees it: what it is, and whether it can be had now.

import type { GpuTopology, GroupId, MemoryTopology, NodeId, VClusterId } from "@lattice/core";

export interface NodeInput {
  readonly id: NodeId;
  readonly group: GroupId;
  readonly conformance: string;
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly features: readonly string[];
  /** Ready and without a claim. */
  readonly free: boolean;
  /** Ready or on its way to be free: counts towards what could ever fit. */
  readonly usable: boolean;
  /** Why it is not free, for explanations: "busy", "drained", "down", ... ; empty when free. */
  readonly notFreeBecause: string;
  /** Another vCluster's, which lends it; absent: its own, or everybody's. */
  readonly lender?: VClusterId;
  readonly cxlMemoryBytes?: number;
  readonly powerWatts?: number;
  readonly gpuTopology?: GpuTopology;
  readonly memoryTopology?: MemoryTopology;
}
