// What is left of an allocation that took checkpoints and has ended: whose they are, and who can remove them.

import type { AllocationId, Instant, NodeId, TenantId, UserName } from "../ids.ts";

export interface Clearing {
  readonly allocation: AllocationId;
  readonly tenant: TenantId;
  readonly project: string;
  readonly user: UserName;
  readonly endedAt: Instant;
  /** Where it ran, the last ones first: these have the storage. */
  readonly nodes: readonly NodeId[];
}
