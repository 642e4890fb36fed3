// The end of an attempt that did not succeed: queued again where the policy allows it, failed
// otherwise. A requeue is one move to pending; failed is final, so that nobody who waits for the end
// is told twice.

import { after, type Duration, type NodeId } from "../ids.ts";
import type { Step } from "../step.ts";
import { isSensitive } from "../vcluster/sensitive.ts";
import type { Allocation } from "./allocation.ts";
import { type Noted, withNote } from "./keep-past.ts";
import { letGo } from "./let-go.ts";
import { moveAllocation } from "./move.ts";
import type { PastFailure } from "./past.ts";
import type { FailureReason, PendingCause, PlacedPhase } from "./phase.ts";
import { afterRunningWell, countedRequeues, restartPause } from "./restart.ts";
import { isService, type Lifecycle } from "./spec.ts";

export interface Failure {
  readonly reason: FailureReason;
  readonly exitCode: number | null;
  readonly message: string;
  /** The node that is down, when that is why. */
  readonly gone: NodeId | null;
  /** Between SIGTERM and SIGKILL; absent: the usual. */
  readonly grace?: Duration;
}

/** Servers before know no such pause, and nothing that is sensitive. */
const HELD_VERSION = 2;

export type FailureVerdict = "requeue" | "limit" | "fail";

export function attemptFailed(step: Step, before: Allocation, phase: PlacedPhase, failure: Failure): void {
  const record = afterRunningWell(step, before);
  // Whose data it touched, and where, is for people to look at first.
  const alone = step.version >= HELD_VERSION && isSensitive(step.state, record.spec.vcluster);
  const verdict = alone ? "fail" : judgeFailure(record.spec.lifecycle, countedRequeues(record), failure.reason);
  if (verdict === "requeue")
    requeue(step, record, phase, { cause: causeOf(failure.reason), gone: failure.gone, failure });
  else fail(step, record, phase, verdict === "limit" ? overLimit(record, failure) : failure);
}

/** What the policy says; the same for a report, a dead node and a reconciler. */
export function judgeFailure(lifecycle: Lifecycle, requeues: number, reason: FailureReason): FailureVerdict {
  if (!mayRequeue(lifecycle, reason)) return "fail";
  return requeues < lifecycle.maxRequeue ? "requeue" : "limit";
}

export function requeue(step: Step, record: Allocation, phase: PlacedPhase, how: Requeue): void {
  const { cause, gone, message, grace, failure } = how;
  const preempted = cause === "preempted";
  letGo(step, record, phase, {
    gone,
    reason: preempted ? cause : "requeued",
    ...(grace === undefined ? {} : { grace }),
  });
  // What fails by itself is begun again less and less often.
  const pause = cause === "policy" && step.version >= HELD_VERSION ? pauseOf(record) : null;
  const pending = {
    kind: "pending",
    since: step.at,
    cause,
    ...(message === undefined ? {} : { message }),
    ...(pause === null ? {} : { heldUntil: after(step.at, pause) }),
  } as const;
  // Being in somebody's way, or being updated, is no fault of its own.
  const counted = preempted
    ? { preemptions: (record.preemptions ?? 0) + 1 }
    : cause === "updated"
      ? { updates: (record.updates ?? 0) + 1 }
      : { requeues: record.requeues + 1 };
  const told = pause === null ? record : withNote(record, heldNote(pause), step);
  moveAllocation(step, told, pending, { ...counted, pendingSinceIndex: step.index }, pastOf(failure));
}

/** Batch work is begun again at once the first time: whatever was in its way may be gone. Null: no pause. */
function pauseOf(record: Allocation): Duration | null {
  const times = countedRequeues(record) + (isService(record.spec.lifecycle) ? 1 : 0);
  return times === 0 ? null : restartPause(times);
}

const heldNote = (pause: Duration): Noted => ({
  type: "decision",
  kind: "held",
  text: `It is held back for ${pause / 1000} s before it is begun again.`,
});

const pastOf = (failure: Failure | undefined): PastFailure | undefined =>
  failure === undefined
    ? undefined
    : { reason: failure.reason, exitCode: failure.exitCode, message: failure.message.slice(0, MAX_KEPT_MESSAGE) };

/** Of a failure that was survived. */
const MAX_KEPT_MESSAGE = 256;

interface Requeue {
  readonly cause: PendingCause;
  readonly gone: NodeId | null;
  readonly message?: string;
  readonly grace?: Duration;
  readonly failure?: Failure;
}

export function fail(step: Step, record: Allocation, phase: PlacedPhase, failure: Failure): void {
  const { reason, exitCode, message, gone, grace } = failure;
  letGo(step, record, phase, { gone, reason, ...(grace === undefined ? {} : { grace }) });
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  const { nodes } = phase;
  // A session that has had its time is over; nothing went wrong.
  if (record.spec.session === true && reason === "walltime_exceeded") {
    moveAllocation(step, record, { kind: "completed", nodes, startedAt, endedAt: step.at, exitCode, message });
    return;
  }
  moveAllocation(step, record, { kind: "failed", reason, nodes, startedAt, endedAt: step.at, exitCode, message });
}

export function overLimit(record: Allocation, failure: Failure): Failure {
  const { maxRequeue } = record.spec.lifecycle;
  const why = failure.message === "" ? failure.reason : `${failure.reason}: ${failure.message}`;
  return {
    ...failure,
    reason: "requeue_limit",
    message: `requeued ${countedRequeues(record)} of ${maxRequeue} times; ${why}`,
  };
}

function mayRequeue(lifecycle: Lifecycle, reason: FailureReason): boolean {
  switch (lifecycle.requeuePolicy) {
    case "never":
      return false;
    case "on_node_failure":
      return reason === "lost" || reason === "launch_failed" || reason === "node_failure";
    case "always":
      return reason !== "stopped" && reason !== "walltime_exceeded" && reason !== "preempted";
  }
}

function causeOf(reason: FailureReason): PendingCause {
  if (reason === "launch_failed") return "launch_failed";
  return reason === "lost" || reason === "node_failure" ? "node_failure" : "policy";
}
