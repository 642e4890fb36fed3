// Requests a checkpoint: for a user, for the broker, or because the node is needed. One is in progress at a time; a
// second request joins it. The effects notify the nodes, which ask the programs; a node that missed the effect gets it
// again.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { CheckpointingPhase, RunningPhase } from "../../model/allocation/phase.ts";
import { type NewNote, withNote } from "../../model/allocation/record-past.ts";
import type { CheckpointRequest } from "../../model/checkpoint/checkpoint.ts";
import type { Node } from "../../model/node/node.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { Step } from "../step.ts";

/** Requests a checkpoint of everything on the node that supports one. Returns whether there was any. */
export function suspendForDrain(step: Step, node: Node): boolean {
  const wanted = { cause: "drained", next: "suspend", message: `node ${node.id} is drained` } as const;
  const asked = node.claims.map(({ allocation, releasing }) => {
    const outcome = releasing ? null : requestCheckpoint(step, allocation, wanted);
    return outcome?.kind === "accepted" && outcome.repeated !== true;
  });
  return asked.includes(true);
}

type CheckpointWish = Omit<CheckpointRequest, "n" | "answers">;

export function requestCheckpoint(step: Step, id: AllocationId, wanted: CheckpointWish): Outcome {
  const record = step.state.allocation(id);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(id)}`);
  const { phase, spec } = record;
  if (spec.checkpoint === undefined) {
    return refuse("illegal_transition", `allocation ${id} takes no checkpoints: it was submitted without --checkpoint`);
  }
  if (phase.kind === "checkpointing") {
    if (wanted.next === "go_on" || phase.request.next === "suspend") return unchanged(id);
    suspendAfterCheckpoint(step, record, phase, wanted);
    return accepted(id);
  }
  if (phase.kind !== "running") return refuse("illegal_transition", `allocation ${id} is ${phase.kind}, not running`);

  beginCheckpoint(step, record, phase, wanted);
  return accepted(id);
}

export function beginCheckpoint(step: Step, record: Allocation, phase: RunningPhase, wanted: CheckpointWish): void {
  const { asked = 0, taken = 0, ...known } = record.checkpoints ?? {};
  const n = asked + 1;
  const request: CheckpointRequest = { ...wanted, n, answers: phase.nodes.map(() => null) };
  const checkpoints = { ...known, asked: n, taken };
  const asking = withNote(record, noteOf(request), step);
  moveAllocation(step, asking, { ...phase, kind: "checkpointing", since: step.at, request }, { checkpoints });
  orderCheckpoint(step, record, phase.nodes);
}

/** The checkpoint in progress serves this request too; only the next step may change. */
export function suspendAfterCheckpoint(
  step: Step,
  record: Allocation,
  phase: CheckpointingPhase,
  wanted: CheckpointWish,
): void {
  const { n, answers } = phase.request;
  const request: CheckpointRequest = { ...wanted, n, answers };
  step.state.putAllocation({ ...withNote(record, noteOf(request), step), phase: { ...phase, request } });
  orderCheckpoint(step, record, phase.nodes);
}

function noteOf({ n, cause, next, message }: CheckpointRequest): NewNote {
  const then = next === "suspend" ? ", after which it makes room" : "";
  const why = message === "" ? "" : `: ${message}`;
  const type = cause === "preempted" ? "preemption" : "state";
  return { type, kind: "checkpoint_requested", text: `Checkpoint ${n} requested (${cause})${then}${why}.` };
}

function orderCheckpoint(step: Step, { id, attempt }: Allocation, nodes: CheckpointingPhase["nodes"]): void {
  for (const node of nodes) step.effects.push({ kind: "checkpoint", node, allocation: id, attempt });
}
