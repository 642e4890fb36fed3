// Creates elements of a group while there is room, and ends the group with its last element. Room is limited by the
// concurrency of the group and by a bound on queued elements: the scheduler sees ordinary allocations, and never a
// hundred thousand of them.

import type { AllocationId } from "../../base/ids.ts";
import { elementId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { newAllocation } from "../../model/allocation/new-allocation.ts";
import {
  GROUP_WINDOW,
  type GroupCounts,
  type GroupPhase,
  hasGroupEnded,
  type TaskGroup,
  waitingCount,
} from "../../model/group/group.ts";
import { MADE, WAITING } from "../../model/group/marks.ts";
import { indexAt, sizeOf } from "../../model/group/range.ts";
import type { State } from "../../state/state.ts";
import { allocationChanged } from "../allocation/move.ts";
import { requestMutexes } from "../allocation/mutex.ts";
import type { Step } from "../step.ts";
import { groupChanged } from "./event.ts";
import { setMark } from "./set-mark.ts";

/** Called after every change of the group. */
export function advanceGroup(step: Step, id: AllocationId): void {
  const known = step.state.group(id);
  if (known === undefined || hasGroupEnded(known.phase)) return;
  const group = known.unmet.length === 0 && known.hold === undefined ? fill(step, known) : known;
  const { made, completed, failed } = group.counts;
  if (made === 0 && waitingCount(group) === 0) {
    end(step, group);
    return;
  }
  const hasStarted = completed + failed > 0 || made > step.state.pendingElements(id);
  if (group.phase.kind === "pending" && hasStarted) move(step, group, { kind: "running", startedAt: step.at });
}

function fill(step: Step, group: TaskGroup): TaskGroup {
  let { next } = group;
  let made = 0;
  const most = group.concurrency ?? Number.POSITIVE_INFINITY;
  while (group.counts.made + made < most && step.state.indexes.flows.windowElements(group.id) < GROUP_WINDOW) {
    const position = nextPosition(step.state, group, next);
    if (position === null) {
      // Held elements are skipped until they are released.
      if (group.counterparts.length === 0) next = sizeOf(group.range);
      break;
    }
    makeElement(step, group, position);
    made += 1;
    next = position + 1;
  }
  if (made === 0 && next === group.next) return group;
  const filled = { ...group, next, counts: { ...group.counts, made: group.counts.made + made } };
  step.state.putGroup(filled);
  return filled;
}

/** Returns the lowest position that waits only for room. */
function nextPosition(state: State, group: TaskGroup, from: number): number | null {
  if (group.counterparts.length > 0) {
    const [first] = state.indexes.flows.ready(group.id);
    return first ?? null;
  }
  const size = sizeOf(group.range);
  for (let position = from; position < size; position += 1) {
    if (state.mark(group, position) === WAITING) return position;
  }
  return null;
}

function makeElement(step: Step, group: TaskGroup, position: number): void {
  const { spec, user, dag, submittedAt, eligibleAt } = group;
  const index = indexAt(group.range, position);
  const names = (spec.dependsOn ?? []).flatMap(({ condition }, n) => (condition === "mutex" ? [n] : []));
  const record: Allocation = {
    ...newAllocation({ id: elementId(group.id, index), user, spec, submittedAt, ...(dag && { dag }) }, step),
    element: { group: group.id, index },
    unmet: names,
    ...(eligibleAt === undefined ? {} : { eligibleAt }),
  };
  setMark(step.state, group, position, MADE);
  step.state.putAllocation(record);
  step.events.push(allocationChanged(record, ""));
  if (names.length > 0) requestMutexes(step, record.id);
}

function end(step: Step, group: TaskGroup): void {
  const kind = endOf(group.counts);
  const startedAt = group.phase.kind === "running" ? group.phase.startedAt : null;
  const ended = move(step, group, { kind, startedAt, endedAt: step.at });
  step.endedWork.push({ id: group.id, end: kind, record: ended });
}

/** Failed if any element failed, else cancelled if any was cancelled. */
function endOf({ failed, cancelled }: GroupCounts): "completed" | "failed" | "cancelled" {
  if (failed > 0) return "failed";
  return cancelled > 0 ? "cancelled" : "completed";
}

function move(step: Step, group: TaskGroup, phase: GroupPhase): TaskGroup {
  const moved = { ...group, phase };
  step.state.putGroup(moved);
  step.events.push(groupChanged(moved, group.phase.kind));
  return moved;
}
