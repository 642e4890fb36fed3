// A task group is submitted: one record, however many elements it stands for. Elements are made when
// there is room for them, the first of them at once.

import { judgeAtOnce, unknownReferences } from "../allocation/dependents.ts";
import { admit, ensureTenant, firstHold, nextId } from "../allocation/submit.ts";
import type { SubmitGroupCommand } from "../command.ts";
import type { FieldProblem, Outcome } from "../outcome.ts";
import type { State } from "../state/state.ts";
import { accepted, refuseFields, type Step } from "../step.ts";
import { checkShape } from "./check.ts";
import { markCounterparts } from "./counterparts.ts";
import { groupChanged } from "./event.ts";
import { type GroupShape, MAX_COUNTERPARTS, NO_COUNTS, type TaskGroup } from "./group.ts";

export function submitGroup(step: Step, command: SubmitGroupCommand): Outcome {
  const { spec } = command;
  const problems = checkShape(command);
  if (problems.length > 0) return refuseFields(problems);
  const refusal = admit(step, spec, command.createTenant);
  if (refusal !== null) return refusal;
  const references = [...unknownReferences(step.state, spec), ...tooManyCounterparts(step.state, spec)];
  if (references.length > 0) return refuseFields(references);

  ensureTenant(step, spec.tenant);
  const made = { id: nextId(step), user: command.origin.user, spec, ...firstHold(step, command) };
  const group = addGroup(step, made, command);
  return accepted(group.id);
}

type Made = Pick<TaskGroup, "id" | "user" | "spec" | "dag" | "hold">;

/** Opens it, or lets it wait for what it depends on. */
export function addGroup(step: Step, made: Made, { range, concurrency }: GroupShape): TaskGroup {
  const edges = made.spec.dependsOn ?? [];
  const counterparts = counterpartEdges(step.state, made.spec);
  // Names are held by the elements, each by itself.
  const whole = edges.flatMap(({ condition }, n) => (condition === "mutex" || counterparts.includes(n) ? [] : [n]));
  const group: TaskGroup = {
    ...made,
    range,
    concurrency,
    submittedAt: step.at,
    phase: { kind: "pending" },
    counts: NO_COUNTS,
    next: 0,
    ...(whole.length === 0 ? {} : { unmet: whole }),
    ...(counterparts.length === 0 ? {} : { counterparts }),
  };
  step.state.putGroup(group);
  step.events.push(groupChanged(group, ""));
  if (counterparts.length > 0) markCounterparts(step, group);
  if (whole.length > 0) judgeAtOnce(step, group);
  step.stirred.add(group.id);
  return group;
}

/** Edges that are met element by element: those to other groups. */
function counterpartEdges(state: State, { dependsOn = [] }: TaskGroup["spec"]): readonly number[] {
  return dependsOn.flatMap(({ ref, condition }, n) =>
    condition === "corresponding" && state.group(ref as TaskGroup["id"]) !== undefined ? [n] : [],
  );
}

function tooManyCounterparts(state: State, spec: TaskGroup["spec"]): readonly FieldProblem[] {
  const refs = new Set(counterpartEdges(state, spec).map((n) => spec.dependsOn?.[n]?.ref));
  if (refs.size <= MAX_COUNTERPARTS) return [];
  const detail = `must not name more than ${MAX_COUNTERPARTS} groups with the condition corresponding`;
  return [{ field: "allocation.depends_on", detail }];
}
