// Ends one element: updates its mark, the counts of its group, and dependent elements. An element without a record was
// marked and counted where it ended.

import { elementOf } from "../../base/ids.ts";
import type { EndedWork } from "../../model/allocation/ended-work.ts";
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
    step.state.putGroup({ ...group, counts: { ...counts, made: counts.made - 1, [end]: counts[end] + 1 } });
  }
  step.touchedGroups.add(element.group);
  judgeCounterparts(step, element.group, element.index, end);
}
