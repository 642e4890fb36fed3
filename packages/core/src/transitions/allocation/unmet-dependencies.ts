// Updates the unmet dependencies of an allocation. When none are left it enters the queue, and plans with an older
// basis do not include it.

import type { Allocation } from "../../model/allocation/allocation.ts";
import type { Step } from "../step.ts";
import { allocationChanged } from "./move.ts";

export function setUnmetDependencies(step: Step, record: Allocation, left: readonly number[]): void {
  if (left.length > 0) {
    step.state.putAllocation({ ...record, unmet: left });
    return;
  }
  const phase = record.phase.kind === "pending" ? { ...record.phase, since: step.at } : record.phase;
  const released: Allocation = { ...record, unmet: left, phase, pendingSinceIndex: step.index };
  step.state.putAllocation(released);
  step.events.push({ ...allocationChanged(released, phase.kind), reason: "released" });
}
