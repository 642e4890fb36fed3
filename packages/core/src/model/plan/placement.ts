// The plan of one scheduling cycle: placements, each an allocation with the nodes of its next attempt.

import type { AllocationId, Attempt, LogIndex, NodeId, VClusterId } from "../../base/ids.ts";
import type { Scores } from "../allocation/allocation.ts";

export interface Placement {
  readonly allocation: AllocationId;
  /** The attempt that this placement starts: the record's attempt plus one, or the placement is stale. */
  readonly attempt: Attempt;
  readonly nodes: readonly NodeId[];
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** Its share of a single node. Default: exclusive nodes. */
  readonly shared?: true;
  /** Behind the elements of its group that are on the node. Default: on free or shared nodes. */
  readonly behind?: true;
}

export interface PlacementPlan {
  readonly vcluster: VClusterId;
  /** The basis: the last entry that the scheduler had applied. */
  readonly basis: LogIndex;
  readonly placements: readonly Placement[];
}
