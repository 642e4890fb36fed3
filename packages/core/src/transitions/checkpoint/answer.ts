// The nodes' answers about a checkpoint in progress. The last node's answer completes it: the allocation continues or is
// suspended, as requested. The first failed node ends the try: an allocation that was to continue continues, and one that
// was to free its nodes is stopped without a checkpoint.

import { duration, type NodeId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { hasEnded } from "../../model/allocation/attempt-end.ts";
import type { CheckpointingPhase, RunningPhase } from "../../model/allocation/phase.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import {
  type CheckpointResult,
  type Checkpoints,
  MAX_KEPT_CHECKPOINTS,
  type SuspendCause,
} from "../../model/checkpoint/checkpoint.ts";
import type { CheckpointEvent } from "../../model/event/event.ts";
import { moveAllocation } from "../allocation/move.ts";
import { countedRequeues } from "../attempt/backoff.ts";
import { fail, requeue, requeueLimitReached } from "../attempt/failure.ts";
import { releaseNodes } from "../claims/release-nodes.ts";
import { returnToQueue } from "../claims/return-to-queue.ts";
import type { Step } from "../step.ts";

/** Everything is on disk; only a program that ignores SIGTERM needs longer. */
const GRACE_AFTER = duration(5_000);

/** `walltime`: the same report ends the attempt at its walltime. */
interface CheckpointAnswer {
  readonly node: NodeId;
  readonly word: CheckpointResult;
  readonly walltime: boolean;
}

/** Returns false when the report has nothing new. */
export function recordCheckpointAnswer(
  step: Step,
  record: Allocation,
  { node, word, walltime }: CheckpointAnswer,
): boolean {
  const { phase } = record;
  if (phase.kind !== "checkpointing" || phase.request.n !== word.n) return false;
  const position = phase.nodes.indexOf(node);
  if (phase.request.answers[position] !== null) return false;
  if (!word.ok) {
    checkpointRefused(step, record, phase, `node ${node}: ${word.message}`);
    return true;
  }
  const answers = phase.request.answers.with(position, word.bytes);
  const ending = walltime ? ({ next: "suspend", cause: "walltime" } as const) : {};
  const answered: CheckpointingPhase = { ...phase, request: { ...phase.request, answers, ...ending } };
  if (answers.every((bytes) => bytes !== null)) complete(step, record, answered);
  else step.state.putAllocation({ ...record, phase: answered });
  return true;
}

function complete(step: Step, record: Allocation, phase: CheckpointingPhase): void {
  const { n, answers, cause, next } = phase.request;
  const bytes = answers.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const took = duration(step.at - phase.since);
  const { asked = n, taken = 0 } = record.checkpoints ?? {};
  const last = { n, attempt: record.attempt, at: step.at, bytes, took, cause };
  const { kept = [] } = record.checkpoints ?? {};
  const checkpoints: Checkpoints = {
    asked,
    taken: taken + 1,
    last,
    kept: [...kept, n].slice(-MAX_KEPT_CHECKPOINTS),
  };
  tellWatchers(step, record, phase, { reason: "taken", message: `checkpoint ${n} is complete` });
  const text = `Checkpoint ${n} is complete (${cause}).`;
  const noted = withNote(record, { type: "state", kind: "checkpoint_taken", text }, step);
  if (next === "go_on") moveAllocation(step, noted, resumeRunning(phase), { checkpoints });
  else suspend(step, noted, phase, checkpoints);
}

function suspend(step: Step, record: Allocation, phase: CheckpointingPhase, checkpoints: Checkpoints): void {
  const { cause, message } = phase.request;
  invariant(isEnding(cause), `${record.id} is not suspended for ${cause}`);
  releaseNodes(step, record, phase, { lostNode: null, reason: cause, grace: GRACE_AFTER });
  // A preemption is no fault of the work; suspensions for other causes are counted separately.
  const counted =
    cause === "preempted" ? { preemptions: record.preemptions + 1 } : { suspensions: record.suspensions + 1 };
  moveAllocation(step, record, { kind: "suspended", since: step.at, cause, message }, { ...counted, checkpoints });
  returnToQueue(step, record.id);
}

const isEnding = (cause: string): cause is SuspendCause =>
  cause === "preempted" || cause === "drained" || cause === "walltime";

/**
 * The program has no checkpoint. Where it still runs on all nodes, it may use the rest of its walltime; other causes need
 * its nodes now.
 */
export function checkpointRefused(step: Step, record: Allocation, phase: CheckpointingPhase, message: string): void {
  const mayContinue = phase.request.cause === "walltime" && !phase.progress.some(hasEnded);
  const request = mayContinue ? ({ ...phase.request, next: "go_on" } as const) : phase.request;
  checkpointFailed(step, record, { ...phase, request }, message);
}

/** The checkpoint failed or timed out. */
export function checkpointFailed(step: Step, record: Allocation, phase: CheckpointingPhase, message: string): void {
  const { request } = phase;
  const { asked = request.n, taken = 0, ...known } = record.checkpoints ?? {};
  const failure = { n: request.n, at: step.at, message };
  const checkpoints: Checkpoints = { ...known, asked, taken, failure };
  const text = `Checkpoint ${request.n} failed: ${message}.`;
  const noted: Allocation = {
    ...withNote(record, { type: "failure", kind: "checkpoint_failed", text }, step),
    checkpoints,
  };
  step.state.putAllocation(noted);
  tellWatchers(step, record, phase, { reason: "failed", message: `checkpoint ${request.n} failed: ${message}` });
  if (request.next === "go_on") moveAllocation(step, noted, resumeRunning(phase));
  else stopWithout(step, noted, phase, message);
}

/** The nodes are needed anyway, so the work is stopped without a checkpoint. */
function stopWithout(step: Step, record: Allocation, phase: CheckpointingPhase, why: string): void {
  const { cause, grace } = phase.request;
  const message = `${phase.request.message}; its checkpoint failed: ${why}`;
  const given = grace === undefined ? {} : { grace };
  const { requeuePolicy, maxRequeue } = record.spec.lifecycle;
  const end = { exitCode: null, message, lostNode: null, ...given } as const;
  if (cause === "walltime") fail(step, record, phase, { ...end, reason: "walltime_exceeded" });
  else if (requeuePolicy === "never") {
    fail(step, record, phase, { ...end, reason: cause === "drained" ? "stopped" : "preempted" });
  } else if (cause !== "drained")
    requeue(step, record, phase, { cause: "preempted", lostNode: null, message, ...given });
  else if (countedRequeues(record) < maxRequeue) requeue(step, record, phase, { cause, lostNode: null, message });
  else fail(step, record, phase, requeueLimitReached(record, { ...end, reason: "stopped" }));
}

/** Returns the allocation to the phase before the request. */
export function resumeRunning({ nodes, placedAt, progress, startedAt, lastEndAt }: CheckpointingPhase): RunningPhase {
  const ended = lastEndAt === undefined ? {} : { lastEndAt };
  return { kind: "running", nodes, placedAt, progress, startedAt, ...ended };
}

/** `to` is the cause of the request. */
function tellWatchers(
  step: Step,
  { id, attempt, spec, user }: Allocation,
  { request }: CheckpointingPhase,
  outcome: Pick<CheckpointEvent, "reason" | "message">,
): void {
  const { tenant, vcluster } = spec;
  step.events.push({
    kind: "checkpoint",
    allocation: id,
    attempt,
    tenant,
    vcluster,
    user,
    to: request.cause,
    ...outcome,
  });
}
