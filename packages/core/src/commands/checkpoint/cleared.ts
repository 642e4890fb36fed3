// checkpoint.cleared: an agent has taken over the removal of checkpoints of ended allocations.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, unchanged } from "../../base/outcome.ts";
import type { Step } from "../../transitions/step.ts";

export interface CheckpointClearedCommand {
  readonly kind: "checkpoint.cleared";
  readonly allocations: readonly AllocationId[];
}

export function removeClearedCheckpoints(step: Step, { allocations }: CheckpointClearedCommand): Outcome {
  const { clearings } = step.state.tables;
  const waiting = allocations.filter((id) => clearings.has(id));
  for (const id of waiting) clearings.delete(id);
  return waiting.length === 0 ? unchanged(null) : accepted(null);
}
