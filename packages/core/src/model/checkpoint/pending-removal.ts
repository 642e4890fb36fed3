// The checkpoints that an ended allocation left: their owner, and the nodes that can remove them.

import type { AllocationId, Instant, NodeId, TenantId, UserName } from "../../base/ids.ts";

export interface CheckpointRemoval {
  readonly allocation: AllocationId;
  readonly tenant: TenantId;
  readonly project: string;
  readonly user: UserName;
  readonly endedAt: Instant;
  /** Where it ran, the last ones first: these have the storage. */
  readonly nodes: readonly NodeId[];
}
