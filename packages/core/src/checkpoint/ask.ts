// A checkpoint is asked for: by a user, by the broker, or because the node is wanted. One at a time; whoever
// asks while one is being taken gets that one. The programs are asked by the nodes, which the
// effects tell; a node that does not hear is told again.

import type { Allocation } from "../allocation/allocation.ts";
import { type Noted, withNote } from "../allocation/keep-past.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { CheckpointingPhase, RunningPhase } from "../allocation/phase.ts";
import type { AllocationId } from "../ids.ts";
import type { Node } from "../node/node.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import type { CheckpointRequest } from "./checkpoint.ts";
import type { AskCheckpointCommand, AttemptCheckpointCommand } from "./commands.ts";

/** A user asks. */
export function askCheckpoint(step: Step, { id, origin }: AskCheckpointCommand): Outcome {
  return ask(step, id, { cause: "user", next: "go_on", message: `asked for by ${origin.user}` });
}

/** A controller asks: of this attempt, or it has looked at something old. */
export function checkpointAttempt(step: Step, command: AttemptCheckpointCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record !== undefined && record.attempt !== command.attempt) {
    return refuse("stale_report", `allocation ${record.id} is at attempt ${record.attempt}, not ${command.attempt}`);
  }
  const { cause, message } = command;
  return ask(step, command.allocation, { cause, next: cause === "drained" ? "suspend" : "go_on", message });
}

/** Asks everything on the node that can take one. True: somebody was asked. */
export function suspendForDrain(step: Step, node: Node): boolean {
  const wanted = { cause: "drained", next: "suspend", message: `node ${node.id} is drained` } as const;
  const asked = node.claims.map(({ allocation, releasing }) => {
    const outcome = releasing ? null : ask(step, allocation, wanted);
    return outcome?.kind === "accepted" && outcome.repeated !== true;
  });
  return asked.includes(true);
}

export type Wanted = Omit<CheckpointRequest, "n" | "answers">;

function ask(step: Step, id: AllocationId, wanted: Wanted): Outcome {
  const record = step.state.allocation(id);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(id)}`);
  const { phase, spec } = record;
  if (spec.checkpoint === undefined) {
    return refuse("illegal_transition", `allocation ${id} takes no checkpoints: it was submitted without --checkpoint`);
  }
  if (phase.kind === "checkpointing") {
    if (wanted.next === "go_on" || phase.request.next === "suspend") return unchanged(id);
    turnToSuspend(step, record, phase, wanted);
    return accepted(id);
  }
  if (phase.kind !== "running") return refuse("illegal_transition", `allocation ${id} is ${phase.kind}, not running`);

  beginCheckpoint(step, record, phase, wanted);
  return accepted(id);
}

export function beginCheckpoint(step: Step, record: Allocation, phase: RunningPhase, wanted: Wanted): void {
  const { asked = 0, taken = 0, ...known } = record.checkpoints ?? {};
  const n = asked + 1;
  const request: CheckpointRequest = { ...wanted, n, answers: phase.nodes.map(() => null) };
  const checkpoints = { ...known, asked: n, taken };
  const asking = withNote(record, noteOf(request), step);
  moveAllocation(step, asking, { ...phase, kind: "checkpointing", since: step.at, request }, { checkpoints });
  tell(step, record, phase.nodes);
}

/** The one that is being taken will do; what follows is another thing. */
export function turnToSuspend(step: Step, record: Allocation, phase: CheckpointingPhase, wanted: Wanted): void {
  const { n, answers } = phase.request;
  const request: CheckpointRequest = { ...wanted, n, answers };
  step.state.putAllocation({ ...withNote(record, noteOf(request), step), phase: { ...phase, request } });
  tell(step, record, phase.nodes);
}

function noteOf({ n, cause, next, message }: CheckpointRequest): Noted {
  const then = next === "suspend" ? ", after which it makes room" : "";
  const why = message === "" ? "" : `: ${message}`;
  const type = cause === "preempted" ? "preemption" : "state";
  return { type, kind: "checkpoint_asked", text: `Checkpoint ${n} is asked for (${cause})${then}${why}.` };
}

function tell(step: Step, { id, attempt }: Allocation, nodes: CheckpointingPhase["nodes"]): void {
  for (const node of nodes) step.effects.push({ kind: "checkpoint", node, allocation: id, attempt });
}
