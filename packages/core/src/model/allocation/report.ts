// The report of one node about one attempt. `apply` accepts it from an assigned node only, in forward order, and
// once per state.

import type { AllocationId, Attempt, Instant, NodeId } from "../../base/ids.ts";
import type { CheckpointResult } from "../checkpoint/checkpoint.ts";
import type { QuarantineRule } from "../node/quarantine-rule.ts";
import type { FailureReason } from "./phase.ts";
import type { UsageValues } from "./usage.ts";

export interface AttemptReport {
  readonly node: NodeId;
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly state: "staging" | "running" | "completed" | "failed";
  readonly exitCode: number | null;
  /** For failed. */
  readonly reason: FailureReason | null;
  readonly message: string;
  /** When the process ended, as the node reports it. Default: the time of the entry. */
  readonly endedAt?: Instant;
  /** For an end: the resources that the attempt has used on this node. */
  readonly usage?: UsageValues;
  /** The newest requested checkpoint, once it has ended on the node. */
  readonly checkpoint?: CheckpointResult;
  /** For failed: it waited behind others, was recalled, and has not started. */
  readonly recalled?: true;
  /** For an end: when the process started, as the node reports it. Default: reported before, or unknown. */
  readonly startedAt?: Instant;
  /** For a failed prologue or launch: how often to retry elsewhere. Default: the usual for a prologue, 0 for a launch. */
  readonly prologueRetries?: number;
  /** For a prologue: the failed step can fail because of the work as well as because of the node. */
  readonly mayBeWork?: true;
  /** For failed: the rule that quarantines the node. Default: the fault controller judges the node later. */
  readonly quarantineRule?: QuarantineRule;
}
