// What the nodes say of a checkpoint that is being taken. With the last node's word it is complete: the
// allocation goes on or is suspended, as was asked. The first node that cannot ends the try: who was to go
// on goes on, who was to make room is stopped without.

import type { Allocation } from "../allocation/allocation.ts";
import { fail, overLimit, requeue } from "../allocation/failure.ts";
import { withNote } from "../allocation/keep-past.ts";
import { letGo } from "../allocation/let-go.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { CheckpointingPhase, RunningPhase } from "../allocation/phase.ts";
import { countedRequeues } from "../allocation/restart.ts";
import { duration, type NodeId } from "../ids.ts";
import { invariant } from "../invariant.ts";
import type { Event } from "../outcome.ts";
import type { Step } from "../step.ts";
import { type Checkpoints, type CheckpointWord, MAX_KEPT_CHECKPOINTS, type SuspendCause } from "./checkpoint.ts";
import { backToQueue } from "./return.ts";

/** All of it is on disk: only who does not hear SIGTERM needs longer. */
const GRACE_AFTER = duration(5_000);

/** `walltime`: the same report says that its time is over. */
export interface Heard {
  readonly node: NodeId;
  readonly word: CheckpointWord;
  readonly walltime: boolean;
}

/** False: nothing of what was said is news. */
export function hearCheckpoint(step: Step, record: Allocation, { node, word, walltime }: Heard): boolean {
  const { phase } = record;
  if (phase.kind !== "checkpointing" || phase.request.n !== word.n) return false;
  const position = phase.nodes.indexOf(node);
  if (phase.request.answers[position] !== null) return false;
  if (!word.ok) {
    checkpointFailed(step, record, phase, `node ${node}: ${word.message}`);
    return true;
  }
  const answers = phase.request.answers.with(position, word.bytes);
  const ending = walltime ? ({ next: "suspend", cause: "walltime" } as const) : {};
  const told: CheckpointingPhase = { ...phase, request: { ...phase.request, answers, ...ending } };
  if (answers.every((bytes) => bytes !== null)) complete(step, record, told);
  else step.state.putAllocation({ ...record, phase: told });
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
  if (next === "go_on") moveAllocation(step, noted, goingOn(phase), { checkpoints });
  else suspend(step, noted, phase, checkpoints);
}

function suspend(step: Step, record: Allocation, phase: CheckpointingPhase, checkpoints: Checkpoints): void {
  const { cause, message } = phase.request;
  invariant(isEnding(cause), `${record.id} is not suspended for ${cause}`);
  letGo(step, record, phase, { gone: null, reason: cause, grace: GRACE_AFTER });
  // Being in somebody's way is no fault of its own; what the others are is counted apart.
  const counted =
    cause === "preempted"
      ? { preemptions: (record.preemptions ?? 0) + 1 }
      : { suspensions: (record.suspensions ?? 0) + 1 };
  moveAllocation(step, record, { kind: "suspended", since: step.at, cause, message }, { ...counted, checkpoints });
  backToQueue(step, record.id);
}

const isEnding = (cause: string): cause is SuspendCause =>
  cause === "preempted" || cause === "drained" || cause === "walltime";

/** It could not be had, or took too long. */
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
  if (request.next === "go_on") moveAllocation(step, noted, goingOn(phase));
  else stopWithout(step, noted, phase, message);
}

/** The nodes are wanted all the same. */
function stopWithout(step: Step, record: Allocation, phase: CheckpointingPhase, why: string): void {
  const { cause, grace } = phase.request;
  const message = `${phase.request.message}; its checkpoint failed: ${why}`;
  const given = grace === undefined ? {} : { grace };
  const { requeuePolicy, maxRequeue } = record.spec.lifecycle;
  const end = { exitCode: null, message, gone: null, ...given } as const;
  if (cause === "walltime") fail(step, record, phase, { ...end, reason: "walltime_exceeded" });
  else if (requeuePolicy === "never") {
    fail(step, record, phase, { ...end, reason: cause === "drained" ? "stopped" : "preempted" });
  } else if (cause !== "drained") requeue(step, record, phase, { cause: "preempted", gone: null, message, ...given });
  else if (countedRequeues(record) < maxRequeue) requeue(step, record, phase, { cause, gone: null, message });
  else fail(step, record, phase, overLimit(record, { ...end, reason: "stopped" }));
}

/** As it was before it was asked. */
export function goingOn({ nodes, placedAt, progress, startedAt }: CheckpointingPhase): RunningPhase {
  return { kind: "running", nodes, placedAt, progress, startedAt };
}

/** `to`: for whom it was. */
function tellWatchers(
  step: Step,
  { id, attempt, spec, user }: Allocation,
  { request }: CheckpointingPhase,
  said: Pick<Event, "reason" | "message">,
): void {
  const { tenant, vcluster } = spec;
  step.events.push({ kind: "checkpoint", allocation: id, attempt, tenant, vcluster, user, to: request.cause, ...said });
}
