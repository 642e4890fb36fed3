// The elements of a task group that have a record and have not ended.

import { elementId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import { MADE } from "../../model/group/marks.ts";
import { indexAt, sizeOf } from "../../model/group/range.ts";
import type { State } from "../../state/state.ts";

/** In index order. */
export function activeElements(state: State, group: TaskGroup): readonly Allocation[] {
  const found: Allocation[] = [];
  for (let at = 0; found.length < group.counts.made && at < sizeOf(group.range); at += 1) {
    if (state.mark(group, at) !== MADE) continue;
    const record = state.allocation(elementId(group.id, indexAt(group.range, at)));
    if (record !== undefined && !isFinal(record.phase)) found.push(record);
  }
  return found;
}
