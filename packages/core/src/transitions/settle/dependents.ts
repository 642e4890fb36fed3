// The dependents of an end. An edge is judged once: when the work it names has ended, or at submission when that is
// over already. With the last edge met an allocation enters the queue and a group opens; work that can never run any more
// is cancelled, which is an end that others may wait for.

import { type AllocationId, elementOf, parseAllocationId, type TenantId, type UserName } from "../../base/ids.ts";
import type { FieldProblem } from "../../base/outcome.ts";
import { quote } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import { hasGroupEnded, type TaskGroup } from "../../model/group/group.ts";
import { DEPENDENCY_FAILED, type EndKind, judgeEnd } from "../../model/spec/dependency.ts";
import type { AllocationSpec } from "../../model/spec/spec.ts";
import type { State } from "../../state/state.ts";
import type { View } from "../../state/view.ts";
import { requestMutexes } from "../allocation/mutex.ts";
import { setUnmetDependencies } from "../allocation/unmet-dependencies.ts";
import { type Cancellation, cancelAllocation } from "../attempt/cancel.ts";
import { cancelGroup } from "../group/cancel.ts";
import type { Step } from "../step.ts";

/** Returns dependencies that do not exist, or are neither of the same tenant nor of the same user. */
export function unknownDependencies(state: State, user: UserName, spec: AllocationSpec): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [n, { ref, condition }] of (spec.dependsOn ?? []).entries()) {
    if (condition === "mutex") continue;
    const target = targetState(state, ref);
    if (target !== null && (target.tenant === spec.tenant || target.user === user)) continue;
    const detail = `there is no allocation ${quote(ref)} of tenant ${quote(spec.tenant)}`;
    problems.push({ field: `allocation.depends_on[${n}].ref`, detail });
  }
  return problems;
}

/** Settles the dependencies of a new record: some targets may have ended already. */
export function judgeDependencies(step: Step, waiter: Allocation | TaskGroup): void {
  for (const ref of new Set((waiter.spec.dependsOn ?? []).map((edge) => edge.ref))) {
    const end = targetState(step.state, ref)?.end ?? null;
    if (end !== null) judge(step, waiter.id, ref, end);
  }
  requestMutexes(step, waiter.id);
}

export function judgeDependents(step: Step, ref: AllocationId, end: EndKind): void {
  const waiting = step.state.indexes.flows.dependents(ref);
  if (waiting.size === 0) return;
  for (const id of [...waiting]) {
    judge(step, id, ref, end);
    requestMutexes(step, id);
  }
}

interface TargetState {
  readonly tenant: TenantId;
  readonly user: UserName;
  /** `null` while it has not ended. */
  readonly end: EndKind | null;
}

/** Returns the state of the target; null when there is none. */
function targetState(view: View, ref: string): TargetState | null {
  const id = parseAllocationId(ref);
  if (id === null) return null;
  const record = view.allocation(id);
  if (record !== undefined) {
    return { tenant: record.spec.tenant, user: record.user, end: isFinal(record.phase) ? record.phase.kind : null };
  }
  const group = view.group(id);
  if (group !== undefined) {
    return { tenant: group.spec.tenant, user: group.user, end: hasGroupEnded(group.phase) ? group.phase.kind : null };
  }
  return elementState(view, id);
}

/** The end of an element without a record. */
function elementState(view: View, id: AllocationId): TargetState | null {
  const element = elementOf(id);
  const parent = element === null ? undefined : view.group(element.group);
  const state = element === null || parent === undefined ? null : view.element(parent, element.index);
  if (parent === undefined || state === null) return null;
  return { tenant: parent.spec.tenant, user: parent.user, end: state === "waiting" || state === "made" ? null : state };
}

function judge(step: Step, id: AllocationId, ref: string, end: EndKind): void {
  const group = step.state.group(id);
  if (group !== undefined) judgeGroup(step, group, ref, end);
  const record = step.state.allocation(id);
  if (record === undefined || record.unmet.length === 0 || isFinal(record.phase)) return;
  const left = judgeEnd(record.spec.dependsOn ?? [], record.unmet, ref, end);
  if (left === "dead") cancelAllocation(step, record, because(record.user, ref, end));
  else if (left !== record.unmet) setUnmetDependencies(step, record, left);
}

function judgeGroup(step: Step, group: TaskGroup, ref: string, end: EndKind): void {
  if (group.unmet.length === 0 || hasGroupEnded(group.phase)) return;
  const left = judgeEnd(group.spec.dependsOn ?? [], group.unmet, ref, end);
  if (left === "dead") {
    cancelGroup(step, group, because(group.user, ref, end));
    return;
  }
  step.state.putGroup({ ...group, unmet: left });
  if (left.length === 0) step.touchedGroups.add(group.id);
}

const END_TEXT: Readonly<Record<EndKind, string>> = {
  completed: "completed",
  failed: "failed",
  cancelled: "was cancelled",
};

const because = (by: UserName, ref: string, end: EndKind): Cancellation => ({
  by,
  reason: DEPENDENCY_FAILED,
  message: `it depends on ${ref}, which ${END_TEXT[end]}`,
});
