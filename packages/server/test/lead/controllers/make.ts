// Commands with which tests of controllers begin.

import {
  type AllocationSpec,
  type Command,
  duration,
  type GroupId,
  minimalSpec,
  type NodeId,
  type TenantId,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";

const origin = { user: "ada" as UserName, requestId: null, bodyHash: "" };

export const vcluster = (name: string): Command => ({
  kind: "vcluster.create",
  origin,
  vcluster: name as VClusterId,
  description: "",
  tenant: null,
  scheduler: "hpc_backfill",
  weights: WEIGHT_PROFILES.hpc_backfill,
  cycleInterval: duration(5_000),
  backfillDepth: 10,
  defaultWalltime: duration(60_000),
  maxWalltime: null,
  isDefault: true,
});

/** A node with four GPUs. */
export const node = (name: string): Command => ({
  kind: "node.register",
  node: name as NodeId,
  capabilities: {
    cpuCores: 8,
    memoryBytes: 2 ** 30,
    gpuType: "a100",
    gpuCount: 4,
    features: [],
    hostname: name,
    kernel: "",
    isolation: "",
    hollow: false,
  },
  group: "g" as GroupId,
  conformance: "",
  homeVCluster: null,
  address: "",
  agentVersion: "",
  bootId: "",
});

export interface SpecOf {
  readonly class?: number;
  readonly auto?: boolean;
  readonly walltime?: number;
}

/** A spec with checkpoints. */
export const spec = ({ class: of = 5, auto = true, walltime = 1_000 * 3_600_000 }: SpecOf = {}): AllocationSpec =>
  minimalSpec({
    tenant: "physics" as TenantId,
    lifecycle: {
      walltime: duration(walltime),
      preemptionClass: of,
      requeuePolicy: "on_node_failure",
      maxRequeue: 3,
    },
    checkpoint: { mode: "signal", auto, port: 0, timeout: duration(600_000), maxDeferral: duration(300_000) },
  });

export const submitted = (of: AllocationSpec): Command => ({
  kind: "allocation.submit",
  origin,
  spec: of,
  createTenant: true,
});
