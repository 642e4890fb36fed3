// dag.cancel: cancels every member that has not ended, dependents first, so that the end of one member does not queue
// another that is cancelled next.

import type { DagId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import { dagState } from "../../model/dag/dag.ts";
import { hasGroupEnded } from "../../model/group/group.ts";
import type { Origin } from "../../model/origin.ts";
import { cancelAllocation } from "../../transitions/attempt/cancel.ts";
import { cancelGroup } from "../../transitions/group/cancel.ts";
import type { Step } from "../../transitions/step.ts";

export interface CancelDagCommand {
  readonly kind: "dag.cancel";
  readonly origin: Origin;
  readonly id: DagId;
  readonly reason: string;
}

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
    if (record !== undefined && !isFinal(record.phase)) cancelAllocation(step, record, how);
  }
  return accepted(id);
}
