// A node's report as a command. What the configuration of the leader says of it is put in here, so that every replica judges by the same.

import {
  attempt,
  type CheckpointWord,
  type FailureReason,
  type NodeId,
  parseAllocationId,
  type ReportCommand,
} from "@lattice/core";
import { pb } from "@lattice/wire";

/** Null: it makes no sense. `retries`: how often it is tried elsewhere when its node could not be made ready. */
export function reportCommand(node: NodeId, message: pb.Report, retries?: number): ReportCommand | null {
  const allocation = parseAllocationId(message.allocationId);
  const state = REPORTED.get(message.state);
  if (allocation === null || state === undefined) return null;
  const reason = REASONS.has(message.reason) ? (message.reason as FailureReason) : "lost";
  return {
    kind: "attempt.report",
    node,
    allocation,
    attempt: attempt(message.attempt),
    state,
    exitCode: message.exitCode ?? null,
    reason: state === "failed" ? reason : null,
    message: message.message.slice(0, MAX_MESSAGE),
    ...(reason === "prologue_failed" && retries !== undefined ? { prologueRetries: retries } : null),
    ...(message.checkpoint === undefined ? null : { checkpoint: wordOf(message.checkpoint) }),
  };
}

const REPORTED = new Map<pb.AllocationState, ReportCommand["state"]>([
  [pb.AllocationState.STAGING, "staging"],
  [pb.AllocationState.RUNNING, "running"],
  [pb.AllocationState.COMPLETED, "completed"],
  [pb.AllocationState.FAILED, "failed"],
]);
const REASONS: ReadonlySet<string> = new Set<FailureReason>([
  "exit_code",
  "signal",
  "walltime_exceeded",
  "launch_failed",
  "prologue_failed",
  "oom",
  "lost",
  "stopped",
  "probe_failed",
]);

const MAX_MESSAGE = 1_000;

const wordOf = ({ number, ok, bytes, message }: pb.CheckpointResult): CheckpointWord => ({
  n: number,
  ok,
  bytes: Math.max(0, Math.floor(Number.isFinite(bytes) ? bytes : 0)),
  message: message.slice(0, MAX_MESSAGE),
});
