// allocation.submit: refuses a submission with the field or the figures, or gives it the next id and queues it. A
// request that does not fit its quota now is accepted and waits; one that can never fit is refused.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, rejected } from "../../base/outcome.ts";

import type { Origin } from "../../model/origin.ts";
import type { AllocationSpec } from "../../model/spec/spec.ts";
import { domainRefusal, namedDomainRequest } from "../../queries/network-domain.ts";
import { unknownDependencies } from "../../transitions/settle/dependents.ts";
import type { Step } from "../../transitions/step.ts";
import { addAllocation, admit, ensureTenant, firstHold, nextId } from "../../transitions/submission/allocation.ts";

export interface SubmitCommand {
  readonly kind: "allocation.submit";
  readonly origin: Origin;
  readonly spec: AllocationSpec;
  /** From configuration: create an unknown tenant instead of refusing it. */
  readonly createTenant: boolean;
  /** Submits the allocation on hold. Default: false. */
  readonly hold?: boolean;
}

export function submitAllocation(step: Step, command: SubmitCommand): Outcome {
  const { spec } = command;
  const refusal = admit(step, spec, command.createTenant);
  if (refusal !== null) return refusal;
  // Members of a DAG are checked when they are placed: other members may join and leave the domain before.
  const wanted = namedDomainRequest(spec);
  const barred = wanted === null ? null : domainRefusal(step.state, wanted);
  if (barred !== null) return rejected(barred);
  const unknown = unknownDependencies(step.state, command.origin.user, spec);
  if (unknown.length > 0) return refuseFields(unknown);

  ensureTenant(step, spec.tenant);
  const made = { id: nextId(step), user: command.origin.user, spec, ...firstHold(step, command) };
  const record = addAllocation(step, made);
  return accepted(record.id);
}
