// The plan of one scheduling cycle: placements, each an allocation with the nodes of its next attempt.

import type { AllocationId, Attempt, LogIndex, NodeId, VClusterId } from "../../base/ids.ts";
import type { Scores } from "../allocation/allocation.ts";

export interface Placement {
  readonly allocation: AllocationId;
  /** The attempt this placement begins: the record's attempt plus one, or it is stale. */
  readonly attempt: Attempt;
  readonly nodes: readonly NodeId[];
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** Its part of a single node, alone there or beside others. Default: all of its nodes. */
  readonly shared?: true;
}

export interface PlacementPlan {
  readonly vcluster: VClusterId;
  /** The last entry that the scheduler had seen. */
  readonly basis: LogIndex;
  readonly placements: readonly Placement[];
}
