// Ends one element: updates its mark, the counts of its group, and dependent elements. An element without a record was
// marked and counted where it ended.

import { between, duration, elementOf } from "../../base/ids.ts";
import type { EndedWork } from "../../model/allocation/ended-work.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import { END_MARKS, MADE } from "../../model/group/marks.ts";
import { positionOf } from "../../model/group/range.ts";
import type { Step } from "../step.ts";
import { judgeCounterparts } from "./counterparts.ts";
import { setMark } from "./set-mark.ts";

export function endElement(step: Step, { id, end, record }: EndedWork): void {
  const element = elementOf(id);
  if (element === null) return;
  const group = step.state.group(element.group);
  const position = group === undefined ? null : positionOf(group.range, element.index);
  // One that never became a record was marked and counted where that was decided.
  if (group !== undefined && position !== null && record !== null && step.state.mark(group, position) === MADE) {
    setMark(step.state, group, position, END_MARKS[end]);
    const { counts } = group;
    const after = { ...counts, made: counts.made - 1, [end]: counts[end] + 1 };
    step.state.putGroup({ ...group, counts: after, ...usualTimeAfter(group, record) });
  }
  step.touchedGroups.add(element.group);
  judgeCounterparts(step, element.group, element.index, end);
}

/** One element in this many decides the usual time. */
const WEIGHT = 4;

/** Cancelled elements tell nothing about the others. */
function usualTimeAfter(
  { usualTime }: TaskGroup,
  { phase }: NonNullable<EndedWork["record"]>,
): Pick<TaskGroup, "usualTime"> {
  if ((phase.kind !== "completed" && phase.kind !== "failed") || phase.startedAt === null) return {};
  const ran = between(phase.startedAt, phase.endedAt);
  return { usualTime: usualTime === undefined ? ran : duration(Math.round(usualTime + (ran - usualTime) / WEIGHT)) };
}
