// Turns a node's report into a command. The command contains the leader's rules about failures, so that every replica
// judges by the same rules.

import {
  attempt,
  type CheckpointResult,
  type FailureReason,
  type Instant,
  instant,
  type NodeId,
  parseAllocationId,
  type QuarantineRule,
  type ReportCommand,
} from "@lattice/core";
import { pb, usageFromProto } from "@lattice/wire";
import type { Config } from "../../base/config/index.ts";

/** Retry and quarantine rules for failures. */
export interface FailureRules {
  /** Retries on other nodes after a failure to start. */
  readonly prologueRetries: number;
  readonly quarantineRule: QuarantineRule;
}

interface Received {
  readonly node: NodeId;
  readonly now: Instant;
  /** Default: the default settings. */
  readonly rules?: FailureRules | undefined;
}

/** Returns `null` for a malformed report. */
export function reportCommand(message: pb.Report, { node, now, rules }: Received): ReportCommand | null {
  const allocation = parseAllocationId(message.allocationId);
  const state = REPORTED.get(message.state);
  if (allocation === null || state === undefined) return null;
  const reason = reasonOf(message.reason);
  const mayBeWork = state === "failed" && reason === "prologue_failed" && USER_STAGES.has(message.stage);
  return {
    kind: "attempt.report",
    node,
    allocation,
    attempt: attempt(message.attempt),
    state,
    exitCode: message.exitCode ?? null,
    reason: state === "failed" ? reason : null,
    message: message.message.slice(0, MAX_MESSAGE),
    ...(state === "completed" || state === "failed" ? { endedAt: timeOf(message.ageMs, now) } : null),
    ...startOf(message, state, now),
    ...(state === "failed" && message.reason === RECALLED ? { recalled: true as const } : null),
    ...(mayBeWork ? { mayBeWork } : null),
    ...(state === "failed" && rules !== undefined ? rulesFor(rules, reason) : null),
    ...usedBy(message, state),
    ...(message.checkpoint === undefined ? null : { checkpoint: checkpointResult(message.checkpoint) }),
  };
}

function usedBy({ used }: pb.Report, state: ReportCommand["state"]): Pick<ReportCommand, "usage"> {
  const usage = state === "completed" || state === "failed" ? usageFromProto(used) : undefined;
  return usage === undefined ? {} : { usage };
}

/** For the end of an attempt whose start was not reported before. */
function startOf(
  { startedAgeMs }: pb.Report,
  state: ReportCommand["state"],
  now: Instant,
): Pick<ReportCommand, "startedAt"> {
  const isEnd = state === "completed" || state === "failed";
  return isEnd && startedAgeMs !== undefined ? { startedAt: timeOf(startedAgeMs, now) } : {};
}

/** `apply` bounds it by the start of the attempt and the time of the entry. */
function timeOf(ageMs: number, now: Instant): Instant {
  return instant(Math.max(0, Math.round(now - (Number.isFinite(ageMs) ? Math.max(0, ageMs) : 0))));
}

export const failureRules = ({
  prologueRetries,
  failuresToQuarantine: failures,
  quickFailure: quick,
  quarantineMaxPercent: maxPercent,
  probation,
}: Config["faults"]): FailureRules => ({
  prologueRetries,
  quarantineRule: { failures, quick, maxPercent, probation },
});

const rulesFor = ({ prologueRetries, quarantineRule }: FailureRules, reason: FailureReason) => ({
  ...(reason === "prologue_failed" || reason === "launch_failed" ? { prologueRetries } : null),
  quarantineRule,
});

/** Prologue stages that depend on the submission, where a mistake of the user is likely. */
const USER_STAGES: ReadonlySet<string> = new Set(["workdir", "output", "image", "uenv", "view", "mounts"]);

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

/** The attempt waited for its turn and has not started. */
const RECALLED = "recalled";

function reasonOf(reason: string): FailureReason {
  if (reason === RECALLED) return "stopped";
  return REASONS.has(reason) ? (reason as FailureReason) : "lost";
}

const MAX_MESSAGE = 1_000;

const checkpointResult = ({ number, ok, bytes, message }: pb.CheckpointResult): CheckpointResult => ({
  n: number,
  ok,
  bytes: Math.max(0, Math.floor(Number.isFinite(bytes) ? bytes : 0)),
  message: message.slice(0, MAX_MESSAGE),
});
