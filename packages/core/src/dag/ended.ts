// A member of a DAG has ended. With the last of them the DAG has, and old ones make room.

import { DEPENDENCY_FAILED } from "../allocation/dependency.ts";
import type { Ended } from "../allocation/ended.ts";
import type { DagId } from "../ids.ts";
import type { State } from "../state/state.ts";
import type { Step } from "../step.ts";
import { DAG_RETENTION, type Dag, dagState, MEMBER_MARKS, MEMBER_OPEN, type MemberEnd } from "./dag.ts";

export function memberEnded(step: Step, id: DagId, ended: Ended): void {
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

function endOf({ end, record }: Ended): MemberEnd {
  if (end !== "cancelled" || record === null) return end;
  const reason = "attempt" in record ? reasonOf(record.phase) : record.cancelled?.reason;
  return reason === DEPENDENCY_FAILED ? "skipped" : end;
}

const reasonOf = (phase: object): unknown => ("reason" in phase ? phase.reason : undefined);

/** As many as there are finished members in the state at most, beside those that are kept in any case: that bounds them. */
function forgetOldest({ state }: Step): void {
  const { endedDags } = state.indexes;
  while (endedDags.size > DAG_RETENTION) {
    const [oldest] = endedDags;
    if (oldest === undefined || isLive(state, oldest)) return;
    state.removeDag(oldest);
  }
}

/** The members that come last mostly end last. */
const isLive = (state: State, { members }: Dag): boolean =>
  members.findLast(({ id }) => state.allocation(id) !== undefined || state.group(id) !== undefined) !== undefined;
