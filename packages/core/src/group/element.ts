// The end of one element: its mark, the counts of its group, and the elements elsewhere that wait for it.

import type { Ended } from "../allocation/ended.ts";
import type { Step } from "../step.ts";
import { judgeCounterparts } from "./counterparts.ts";
import { END_MARKS, MADE } from "./marks.ts";
import { elementOf, positionOf } from "./range.ts";
import { setMark } from "./set-mark.ts";

export function elementEnded(step: Step, { id, end, record }: Ended): void {
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
  step.stirred.add(element.group);
  judgeCounterparts(step, element.group, element.index, end);
}
