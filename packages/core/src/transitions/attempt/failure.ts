// The end of an attempt that did not succeed: requeued where the policy allows it, failed otherwise. A requeue is one
// move to pending; failed is final, so that watchers of the end get exactly one event.

import { after, type Duration, type NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { endOfAttempt } from "../../model/allocation/attempt-end.ts";
import type { PastFailure } from "../../model/allocation/past.ts";
import type { FailureReason, PendingCause, PlacedPhase } from "../../model/allocation/phase.ts";
import { type NewNote, withNote } from "../../model/allocation/record-past.ts";
import { isService, type Lifecycle } from "../../model/spec/spec.ts";
import { isSensitive } from "../../queries/sensitive.ts";
import { moveAllocation } from "../allocation/move.ts";
import { releaseNodes } from "../claims/release-nodes.ts";
import type { Step } from "../step.ts";
import { backoffBefore, countedRequeues, forgetRequeuesAfterLongRun } from "./backoff.ts";

export interface Failure {
  readonly reason: FailureReason;
  readonly exitCode: number | null;
  readonly message: string;
  /** The node that is down, if that is the cause. */
  readonly lostNode: NodeId | null;
  /** Between SIGTERM and SIGKILL. Default: the usual grace. */
  readonly grace?: Duration;
}

type FailureVerdict = "requeue" | "limit" | "fail";

export function failOrRequeue(step: Step, before: Allocation, phase: PlacedPhase, failure: Failure): void {
  const record = forgetRequeuesAfterLongRun(step, before);
  // Sensitive work is never requeued automatically.
  const alone = isSensitive(step.state, record.spec.vcluster);
  const verdict = alone ? "fail" : judgeFailure(record.spec.lifecycle, countedRequeues(record), failure.reason);
  if (verdict === "requeue")
    requeue(step, record, phase, { cause: causeOf(failure.reason), lostNode: failure.lostNode, failure });
  else fail(step, record, phase, verdict === "limit" ? requeueLimitReached(record, failure) : failure);
}

/** Applies the requeue policy, for reports, dead nodes and controllers alike. */
function judgeFailure(lifecycle: Lifecycle, requeues: number, reason: FailureReason): FailureVerdict {
  if (!mayRequeue(lifecycle, reason)) return "fail";
  return requeues < lifecycle.maxRequeue ? "requeue" : "limit";
}

export function requeue(step: Step, record: Allocation, phase: PlacedPhase, how: Requeue): void {
  const { cause, lostNode: gone, message, grace, failure } = how;
  const preempted = cause === "preempted";
  releaseNodes(step, record, phase, {
    lostNode: gone,
    reason: preempted ? cause : "requeued",
    ...(grace === undefined ? {} : { grace }),
  });
  // Repeated failures restart with a growing delay.
  const pause = cause === "policy" ? pauseOf(record) : null;
  const pending = {
    kind: "pending",
    since: step.at,
    cause,
    ...(message === undefined ? {} : { message }),
    ...(pause === null ? {} : { backoffUntil: after(step.at, pause) }),
  } as const;
  // A preemption or an update is no fault of the work.
  const counted = preempted
    ? { preemptions: record.preemptions + 1 }
    : cause === "updated"
      ? { updates: record.updates + 1 }
      : { requeues: record.requeues + 1 };
  const ended = { ...record, phase };
  const noted = pause === null ? ended : withNote(ended, heldNote(pause), step);
  moveAllocation(step, noted, pending, { ...counted, pendingSinceIndex: step.index }, pastOf(failure));
}

/** Batch work restarts at once the first time, because the cause may be gone. `null` when there is no delay. */
function pauseOf(record: Allocation): Duration | null {
  const times = countedRequeues(record) + (isService(record.spec.lifecycle) ? 1 : 0);
  return times === 0 ? null : backoffBefore(times);
}

const heldNote = (pause: Duration): NewNote => ({
  type: "decision",
  kind: "held",
  text: `It restarts after a backoff of ${pause / 1000} s.`,
});

const pastOf = (failure: Failure | undefined): PastFailure | undefined =>
  failure === undefined
    ? undefined
    : { reason: failure.reason, exitCode: failure.exitCode, message: failure.message.slice(0, MAX_KEPT_MESSAGE) };

/** The note of a failure that led to a requeue. */
const MAX_KEPT_MESSAGE = 256;

interface Requeue {
  readonly cause: PendingCause;
  readonly lostNode: NodeId | null;
  readonly message?: string;
  readonly grace?: Duration;
  readonly failure?: Failure;
}

export function fail(step: Step, record: Allocation, phase: PlacedPhase, failure: Failure): void {
  const { reason, exitCode, message, lostNode: gone, grace } = failure;
  releaseNodes(step, record, phase, { lostNode: gone, reason, ...(grace === undefined ? {} : { grace }) });
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  const { nodes } = phase;
  const endedAt = endOfAttempt(phase, step.at);
  // A session at the end of its walltime has completed.
  if (record.spec.session === true && reason === "walltime_exceeded") {
    moveAllocation(step, record, { kind: "completed", nodes, startedAt, endedAt, exitCode, message });
    return;
  }
  // Its newest complete checkpoint can be resumed, so the work before it is not lost.
  if (reason === "walltime_exceeded" && phase.kind !== "staging" && record.checkpoints?.last !== undefined) {
    const suspended = { kind: "suspended", since: step.at, cause: "walltime", message } as const;
    moveAllocation(step, record, suspended, { suspensions: record.suspensions + 1 });
    return;
  }
  moveAllocation(step, record, { kind: "failed", reason, nodes, startedAt, endedAt, exitCode, message });
}

export function requeueLimitReached(record: Allocation, failure: Failure): Failure {
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
