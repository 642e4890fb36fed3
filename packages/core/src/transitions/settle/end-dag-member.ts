// Records the end of a DAG member. The DAG ends with its last member, and old DAGs are removed.

import type { DagId } from "../../base/ids.ts";
import type { EndedWork } from "../../model/allocation/ended-work.ts";
import { DAG_RETENTION, type Dag, dagState, MEMBER_MARKS, MEMBER_OPEN, type MemberEnd } from "../../model/dag/dag.ts";
import { DEPENDENCY_FAILED } from "../../model/spec/dependency.ts";
import type { State } from "../../state/state.ts";
import type { Step } from "../step.ts";

export function endDagMember(step: Step, id: DagId, ended: EndedWork): void {
  const dag = step.state.dag(id);
  if (dag === undefined) return;
  const at = dag.members.findIndex((member) => member.id === ended.id);
  if (at < 0) return;
  const ends = dag.ends.slice(0, at) + MEMBER_MARKS[endOf(ended)] + dag.ends.slice(at + 1);
  const over = !ends.includes(MEMBER_OPEN);
  const now: Dag = { ...dag, ends, endedAt: over ? step.at : null };
  step.state.putDag(now);
  if (!over) return;
  const { tenant, user } = dag;
  step.events.push({ kind: "dag_changed", dag: id, tenant, user, from: "running", to: dagState(now), reason: "" });
  forgetOldest(step);
}

function endOf({ end, record }: EndedWork): MemberEnd {
  if (end !== "cancelled" || record === null) return end;
  const reason = "attempt" in record ? reasonOf(record.phase) : record.cancelled?.reason;
  return reason === DEPENDENCY_FAILED ? "skipped" : end;
}

const reasonOf = (phase: object): unknown => ("reason" in phase ? phase.reason : undefined);

/** Drops the oldest ended DAGs beyond the retention bound, except DAGs with members that are still in the state. */
function forgetOldest({ state }: Step): void {
  const { endedDags } = state.indexes;
  while (endedDags.size > DAG_RETENTION) {
    const [oldest] = endedDags;
    if (oldest === undefined || isLive(state, oldest)) return;
    state.removeDag(oldest);
  }
}

/** Checked from the end, because the last members usually end last. */
const isLive = (state: State, { members }: Dag): boolean =>
  members.findLast(({ id }) => state.allocation(id) !== undefined || state.group(id) !== undefined) !== undefined;
