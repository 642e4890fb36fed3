// Replaces the mark of one element.

import type { TaskGroup } from "../../model/group/group.ts";
import { chunkOf, markKey, withMark } from "../../model/group/marks.ts";
import type { State } from "../../state/state.ts";

export function setMark(state: State, { id }: TaskGroup, position: number, mark: string): void {
  const n = chunkOf(position);
  const before = state.tables.marks.get(markKey(id, n))?.marks;
  state.putMarks({ group: id, n, marks: withMark(before, position, mark) });
}
