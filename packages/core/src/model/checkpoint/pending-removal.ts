// Checkpoints left by an ended allocation: their owner, and the nodes that can remove them.

import type { AllocationId, Instant, NodeId, TenantId, UserName } from "../../base/ids.ts";

export interface CheckpointRemoval {
  readonly allocation: AllocationId;
  readonly tenant: TenantId;
  readonly project: string;
  readonly user: UserName;
  readonly endedAt: Instant;
  /** Nodes where it ran, newest first: these have the storage. */
  readonly nodes: readonly NodeId[];
}
