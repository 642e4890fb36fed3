// allocation.checkpoint: a user requests a checkpoint of an allocation, or of every running element of a task group.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse } from "../../base/outcome.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import type { Origin } from "../../model/origin.ts";
import { requestCheckpoint } from "../../transitions/checkpoint/ask.ts";
import { activeElements } from "../../transitions/group/active-elements.ts";
import type { Step } from "../../transitions/step.ts";

/** A user requests a checkpoint of a running allocation. */
export interface AskCheckpointCommand {
  readonly kind: "allocation.checkpoint";
  readonly origin: Origin;
  readonly id: AllocationId;
}

/** Requests a checkpoint of every running element of a task group, or of one allocation. */
export function checkpointWork(step: Step, command: AskCheckpointCommand): Outcome {
  const group = step.state.group(command.id);
  return group === undefined ? checkpointAllocation(step, command) : checkpointGroup(step, group, command);
}

function checkpointAllocation(step: Step, { id, origin }: AskCheckpointCommand): Outcome {
  return requestCheckpoint(step, id, { cause: "user", next: "go_on", message: `requested by ${origin.user}` });
}

/** Elements that are not running have nothing to save. */
function checkpointGroup(step: Step, group: TaskGroup, command: AskCheckpointCommand): Outcome {
  if (group.spec.checkpoint === undefined) {
    return refuse(
      "illegal_transition",
      `task group ${group.id} takes no checkpoints: it was submitted without --checkpoint`,
    );
  }
  const running = activeElements(step.state, group).filter(
    ({ phase }) => phase.kind === "running" || phase.kind === "checkpointing",
  );
  if (running.length === 0) return refuse("illegal_transition", `no element of task group ${group.id} runs`);
  for (const { id } of running) checkpointAllocation(step, { ...command, id });
  return accepted(group.id);
}
