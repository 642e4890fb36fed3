// Cancelling a DAG cancels every member that has not ended, dependents first: nobody is released by the
// end of another only to be cancelled in turn.

import { endByCancel } from "../allocation/end-by-cancel.ts";
import { isFinal } from "../allocation/phase.ts";
import type { CancelDagCommand } from "../command.ts";
import { cancelGroup } from "../group/cancel.ts";
import { hasGroupEnded } from "../group/group.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { dagState } from "./dag.ts";

export function cancelDag(step: Step, { id, origin, reason }: CancelDagCommand): Outcome {
  const dag = step.state.dag(id);
  if (dag === undefined) return refuse("unknown_dag", `there is no DAG ${quote(id)}`);
  const state = dagState(dag);
  if (state === "cancelled") return unchanged(id);
  if (state !== "running") return refuse("illegal_transition", `DAG ${id} is already ${state}`);

  const how = { by: origin.user, reason, message: "" };
  for (const member of dag.members.toReversed()) {
    const group = step.state.group(member.id);
    if (group !== undefined && !hasGroupEnded(group.phase)) cancelGroup(step, group, how);
    const record = step.state.allocation(member.id);
    if (record !== undefined && !isFinal(record.phase)) endByCancel(step, record, how);
  }
  return accepted(id);
}
