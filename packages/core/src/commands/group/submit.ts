// group.submit: submits a task group as one record, whatever its number of elements. Elements are created when there is
// room for them; the first ones at once.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields } from "../../base/outcome.ts";

import { checkShape } from "../../model/group/check.ts";
import type { GroupShape } from "../../model/group/group.ts";
import type { Origin } from "../../model/origin.ts";
import type { AllocationSpec } from "../../model/spec/spec.ts";
import { unknownDependencies } from "../../transitions/settle/dependents.ts";
import type { Step } from "../../transitions/step.ts";
import { admit, ensureTenant, firstHold, nextId } from "../../transitions/submission/allocation.ts";
import { addGroup, tooManyCounterparts } from "../../transitions/submission/group.ts";

export interface SubmitGroupCommand extends GroupShape {
  readonly kind: "group.submit";
  readonly origin: Origin;
  /** The spec of every element. */
  readonly spec: AllocationSpec;
  readonly createTenant: boolean;
  /** The same checks as for one allocation. */
  readonly hold?: boolean;
}

export function submitGroup(step: Step, command: SubmitGroupCommand): Outcome {
  const { spec } = command;
  const problems = checkShape(command);
  if (problems.length > 0) return refuseFields(problems);
  const refusal = admit(step, spec, command.createTenant);
  if (refusal !== null) return refusal;
  const references = [
    ...unknownDependencies(step.state, command.origin.user, spec),
    ...tooManyCounterparts(step.state, spec),
  ];
  if (references.length > 0) return refuseFields(references);

  ensureTenant(step, spec.tenant);
  const made = { id: nextId(step), user: command.origin.user, spec, ...firstHold(step, command) };
  const group = addGroup(step, made, command);
  return accepted(group.id);
}
