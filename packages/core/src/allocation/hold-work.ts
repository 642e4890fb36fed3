// Holding and releasing work that waits: an allocation, a task group, or elements of one.

import type { HoldCommand } from "../command.ts";
import { holdOfGroup } from "../group/hold.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { holdRecord, mayRelease, notTheirs, releaseRecord } from "./hold-record.ts";

export function holdWork(step: Step, command: HoldCommand): Outcome {
  const record = command.elements === undefined ? step.state.allocation(command.id) : undefined;
  if (record === undefined) {
    const outcome = holdOfGroup(step, command);
    return outcome ?? refuse("unknown_allocation", `there is no allocation ${quote(command.id)}`);
  }
  if (record.phase.kind !== "pending") {
    if (!command.held) return unchanged(record.id);
    return refuse("illegal_transition", `allocation ${record.id} is ${record.phase.kind}: only what waits can be held`);
  }
  if (command.held) return holdRecord(step, record, command) ? accepted(record.id) : unchanged(record.id);
  if (record.hold === undefined) return unchanged(record.id);
  if (!mayRelease(record.hold.as, command)) return notTheirs(`allocation ${record.id}`);
  releaseRecord(step, record, command);
  return accepted(record.id);
}
