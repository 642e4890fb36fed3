// One node as a cycle sees it: its hardware, and whether it is free.

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
  /** Ready or about to be: counts towards what could ever fit. */
  readonly usable: boolean;
  /** Why it is not free, for explanations: "busy", "drained", "down", ...; empty when free. */
  readonly notFreeBecause: string;
  /** The vCluster that lends it. Absent for the vCluster's own and for common nodes. */
  readonly lender?: VClusterId;
  readonly cxlMemoryBytes?: number;
  readonly powerWatts?: number;
  readonly gpuTopology?: GpuTopology;
  readonly memoryTopology?: MemoryTopology;
}
