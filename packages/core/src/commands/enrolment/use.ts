// enrolment.use: admits a node to an enrolment and records its first certificate in the audit log. Only the log counts the
// nodes, so that servers that answer at the same time cannot exceed the limit together. A registered node is refused:
// the holder of the token must not take over its name.

import type { NodeId } from "../../base/ids.ts";
import { unchecked } from "../../base/ids.ts";
import { present } from "../../base/invariant.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse } from "../../base/outcome.ts";
import { useRefusal } from "../../queries/enrolment.ts";
import { appendAudit } from "../../transitions/audit/append.ts";
import type { Step } from "../../transitions/step.ts";

export interface UseEnrolmentCommand {
  readonly kind: "enrolment.use";
  readonly id: string;
  readonly node: NodeId;
  /** The certificate and the address of the node, for the audit log. */
  readonly detail: string;
}

export function useEnrolment(step: Step, { id, node, detail }: UseEnrolmentCommand): Outcome {
  const { enrolments } = step.state.tables;
  const refusal = useRefusal(step.state, { id, node, now: step.at });
  if (refusal !== null) return refuse("forbidden", refusal);

  const known = present(enrolments.get(id), `the enrolment ${id} was found`);
  if (!known.nodes.includes(node)) enrolments.set(id, { ...known, nodes: [...known.nodes, node] });
  const user = unchecked.user(`enrolment-${id}`);
  appendAudit(step, user, "certificate.issue", { scope: "access", node, detail });
  return accepted(node);
}
