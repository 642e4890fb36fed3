// The consequences of an end: mutex names pass on, dependents are released or cancelled, and the group and DAG of the
// ended work are updated. It runs after each command, with a list and not by recursion: a chain of a hundred thousand
// dependents must not be as deep as the stack.

import type { DagId, NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { EndedWork } from "../../model/allocation/ended-work.ts";
import { DAG_RETENTION, type Dag, dagState, MEMBER_MARKS, MEMBER_OPEN, type MemberEnd } from "../../model/dag/dag.ts";
import { DEPENDENCY_FAILED } from "../../model/spec/dependency.ts";
import type { State } from "../../state/state.ts";
import { passMutexesOn } from "../allocation/mutex.ts";
import { advanceGroup } from "../group/create-elements.ts";
import { endElement } from "../group/end-element.ts";
import { queueEndDelivery } from "../notice/deliver.ts";
import type { Step } from "../step.ts";
import { judgeDependents } from "./dependents.ts";

export function settleEndedWork(step: Step): void {
  while (step.endedWork.length > 0 || step.touchedGroups.size > 0) {
    for (const ended of step.endedWork.splice(0)) settleOne(step, ended);
    const touched = [...step.touchedGroups];
    step.touchedGroups.clear();
    for (const group of touched) advanceGroup(step, group);
  }
}

function settleOne(step: Step, ended: EndedWork): void {
  const { id, record } = ended;
  queueEndDelivery(step, ended);
  queueCheckpointRemoval(step, ended);
  endElement(step, ended);
  if (record !== null && "attempt" in record) passMutexesOn(step, record);
  judgeDependents(step, id, ended.end);
  if (record?.dag !== undefined && !("element" in record)) endDagMember(step, record.dag, ended);
}

function endDagMember(step: Step, id: DagId, ended: EndedWork): void {
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

/** A week of a busy cluster with unavailable storage; a few MB. */
const MAX_CLEARINGS = 10_000;
/** Nodes per record. */
const MAX_NODES = 16;

function queueCheckpointRemoval(step: Step, { record }: EndedWork): void {
  if (record === null || !("attempt" in record)) return;
  if ((record.checkpoints?.asked ?? 0) === 0) return;
  const { clearings } = step.state.tables;
  const { id, user, spec } = record;
  const { tenant, project } = spec;
  clearings.set(id, { allocation: id, tenant, project, user, endedAt: step.at, nodes: nodesOf(record) });
  const [oldest] = clearings.keys();
  if (clearings.size <= MAX_CLEARINGS || oldest === undefined) return;
  clearings.delete(oldest);
  const message = "too many wait to be removed: its checkpoints stay";
  step.events.push({ kind: "checkpoint", allocation: oldest, reason: "left_behind", message });
}

function nodesOf({ phase, past }: Allocation): readonly NodeId[] {
  const last = "nodes" in phase ? phase.nodes : [];
  const before = (past?.attempts ?? []).toReversed().flatMap(({ nodes }) => nodes);
  return [...new Set([...last, ...before])].slice(0, MAX_NODES);
}
