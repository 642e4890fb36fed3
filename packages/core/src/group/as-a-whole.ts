// What users do to one allocation, done to a whole task group: to each of its elements that it can be done to, and for what has yet to
// begin to the group itself. All or nothing: when one element refuses a change, none is changed. Null: the id is no group's.

import type { Allocation } from "../allocation/allocation.ts";
import { newRecord } from "../allocation/new-record.ts";
import { isFinal } from "../allocation/phase.ts";
import { changedSpec, updateAllocation, whyNotUpdated } from "../allocation/update.ts";
import { canonical } from "../canonical.ts";
import { askCheckpoint } from "../checkpoint/ask.ts";
import type { AskCheckpointCommand, ResumeCommand } from "../checkpoint/commands.ts";
import { resumeAllocation } from "../checkpoint/return.ts";
import type { UpdateAllocationCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { isResting } from "../state/flows.ts";
import type { State } from "../state/state.ts";
import { accepted, refuse, type Step, unchanged } from "../step.ts";
import { hasGroupEnded, type TaskGroup } from "./group.ts";
import { MADE } from "./marks.ts";
import { elementId, indexAt, sizeOf } from "./range.ts";

export function updateGroup(step: Step, command: UpdateAllocationCommand): Outcome | null {
  const group = step.state.group(command.id);
  if (group === undefined) return null;
  const { id, phase, spec, user, submittedAt } = group;
  if (hasGroupEnded(phase)) return refuse("illegal_transition", `task group ${id} is already ${phase.kind}`);
  const { change } = command;
  const elements = underWay(step.state, group);
  for (const record of [newRecord(step, { id, user, spec, submittedAt }), ...elements]) {
    const bar = whyNotUpdated(step, record, change);
    if (bar !== null) return bar;
  }
  const outcomes = elements.map((element) => updateAllocation(step, { ...command, id: element.id }));
  const changed = changedSpec(spec, change, step.at);
  const same = canonical(changed) === canonical(spec);
  if (same && outcomes.every((outcome) => outcome.kind === "accepted" && outcome.repeated === true))
    return unchanged(id);
  const now = step.state.group(id) ?? group;
  step.state.putGroup({ ...now, spec: changed });
  return accepted(id);
}

/** Those that run; others have nothing to save. */
export function checkpointGroup(step: Step, command: AskCheckpointCommand): Outcome | null {
  const group = step.state.group(command.id);
  if (group === undefined) return null;
  if (group.spec.checkpoint === undefined) {
    return refuse(
      "illegal_transition",
      `task group ${group.id} takes no checkpoints: it was submitted without --checkpoint`,
    );
  }
  const running = underWay(step.state, group).filter(
    ({ phase }) => phase.kind === "running" || phase.kind === "checkpointing",
  );
  if (running.length === 0) return refuse("illegal_transition", `no element of task group ${group.id} runs`);
  for (const { id } of running) askCheckpoint(step, { ...command, id });
  return accepted(group.id);
}

export function resumeGroup(step: Step, command: ResumeCommand): Outcome | null {
  const group = step.state.group(command.id);
  if (group === undefined) return null;
  const resting = underWay(step.state, group).filter(isResting);
  if (resting.length === 0) return refuse("illegal_transition", `no element of task group ${group.id} is suspended`);
  const outcomes = resting.map(({ id }) => resumeAllocation(step, { ...command, id }));
  const done = outcomes.some(({ kind }) => kind === "accepted");
  return done ? accepted(group.id) : (outcomes[0] ?? unchanged(group.id));
}

/** In the order of their indexes. */
function underWay(state: State, group: TaskGroup): readonly Allocation[] {
  const found: Allocation[] = [];
  for (let at = 0; found.length < group.counts.made && at < sizeOf(group.range); at += 1) {
    if (state.mark(group, at) !== MADE) continue;
    const record = state.allocation(elementId(group.id, indexAt(group.range, at)));
    if (record !== undefined && !isFinal(record.phase)) found.push(record);
  }
  return found;
}
