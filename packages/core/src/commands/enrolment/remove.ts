// enrolment.remove: revokes an enrolment. Certificates that nodes obtained with it stay valid.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";

export interface RemoveEnrolmentCommand {
  readonly kind: "enrolment.remove";
  readonly origin: Origin;
  readonly id: string;
}

export function removeEnrolment(step: Step, { id }: RemoveEnrolmentCommand): Outcome {
  const { enrolments } = step.state.tables;
  if (!enrolments.has(id)) return refuse("unknown_enrolment", `there is no enrolment ${quote(id)}`);
  enrolments.delete(id);
  return accepted(id);
}
