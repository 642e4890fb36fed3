// allocation.resume: queues a suspended allocation, or all suspended elements of a task group, after the end of its
// walltime.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import type { Origin } from "../../model/origin.ts";
import { isResting } from "../../state/element-index.ts";
import { moveAllocation } from "../../transitions/allocation/move.ts";
import { activeElements } from "../../transitions/group/active-elements.ts";
import type { Step } from "../../transitions/step.ts";

/** Queues an allocation that was suspended with a complete checkpoint at the end of its walltime. */
export interface ResumeCommand {
  readonly kind: "allocation.resume";
  readonly origin: Origin;
  readonly id: AllocationId;
}

/** Queues every suspended element of a task group, or one suspended allocation. */
export function resumeWork(step: Step, command: ResumeCommand): Outcome {
  const group = step.state.group(command.id);
  return group === undefined ? resumeAllocation(step, command) : resumeGroup(step, group, command);
}

function resumeAllocation(step: Step, { id, origin }: ResumeCommand): Outcome {
  const record = step.state.allocation(id);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(id)}`);
  const { phase } = record;
  if (phase.kind !== "suspended")
    return refuse("illegal_transition", `allocation ${id} is ${phase.kind}, not suspended`);
  if (phase.cause !== "walltime") return refuse("illegal_transition", `allocation ${id} is queued again by itself`);
  if (step.state.indexes.claimCount(id) > 0) {
    return refuse("illegal_transition", `allocation ${id} is still being cleared from its nodes; try again`);
  }
  const message = `resumed by ${origin.user}`;
  const pending = { kind: "pending", since: step.at, cause: "resumed", message } as const;
  const noted = withNote(record, { type: "state", kind: "requeued", text: `Queued again: ${message}.` }, step);
  moveAllocation(step, noted, pending, { pendingSinceIndex: step.index });
  return accepted(id);
}

function resumeGroup(step: Step, group: TaskGroup, command: ResumeCommand): Outcome {
  const resting = activeElements(step.state, group).filter(isResting);
  if (resting.length === 0) return refuse("illegal_transition", `no element of task group ${group.id} is suspended`);
  const outcomes = resting.map(({ id }) => resumeAllocation(step, { ...command, id }));
  const done = outcomes.some(({ kind }) => kind === "accepted");
  return done ? accepted(group.id) : (outcomes[0] ?? unchanged(group.id));
}
