// Adds a task group to the state: one record for all elements, which are created when there is room for them.

import { parseAllocationId } from "../../base/ids.ts";
import type { FieldProblem } from "../../base/outcome.ts";
import { type GroupShape, MAX_COUNTERPARTS, NO_COUNTS, type TaskGroup } from "../../model/group/group.ts";
import type { State } from "../../state/state.ts";
import { markCounterparts } from "../group/counterparts.ts";
import { groupChanged } from "../group/event.ts";
import { judgeDependencies } from "../settle/dependents.ts";
import type { Step } from "../step.ts";

type Made = Pick<TaskGroup, "id" | "user" | "spec" | "dag" | "hold">;

/** Opens the group, or lets it wait for its dependencies. */
export function addGroup(step: Step, made: Made, { range, concurrency }: GroupShape): TaskGroup {
  const edges = made.spec.dependsOn ?? [];
  const counterparts = counterpartEdges(step.state, made.spec);
  // Mutex names are held by elements.
  const whole = edges.flatMap(({ condition }, n) => (condition === "mutex" || counterparts.includes(n) ? [] : [n]));
  const group: TaskGroup = {
    ...made,
    range,
    concurrency,
    submittedAt: step.at,
    phase: { kind: "pending" },
    counts: NO_COUNTS,
    next: 0,
    unmet: whole,
    counterparts,
  };
  step.state.putGroup(group);
  step.events.push(groupChanged(group, ""));
  if (counterparts.length > 0) markCounterparts(step, group);
  if (whole.length > 0) judgeDependencies(step, group);
  step.touchedGroups.add(group.id);
  return group;
}

/** Dependencies on other groups, which are met element by element. */
function counterpartEdges(state: State, { dependsOn = [] }: TaskGroup["spec"]): readonly number[] {
  return dependsOn.flatMap(({ ref, condition }, n) =>
    condition === "corresponding" && isGroup(state, ref) ? [n] : [],
  );
}

export function tooManyCounterparts(state: State, spec: TaskGroup["spec"]): readonly FieldProblem[] {
  const refs = new Set(counterpartEdges(state, spec).map((n) => spec.dependsOn?.[n]?.ref));
  if (refs.size <= MAX_COUNTERPARTS) return [];
  const detail = `must not name more than ${MAX_COUNTERPARTS} groups with the condition corresponding`;
  return [{ field: "allocation.depends_on", detail }];
}

function isGroup(state: State, ref: string): boolean {
  const id = parseAllocationId(ref);
  return id !== null && state.group(id) !== undefined;
}
