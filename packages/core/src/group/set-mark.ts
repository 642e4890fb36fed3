// Replaces the mark of one element.

import type { State } from "../state/state.ts";
import type { TaskGroup } from "./group.ts";
import { chunkOf, markKey, withMark } from "./marks.ts";

export function setMark(state: State, { id }: TaskGroup, position: number, mark: string): void {
  const n = chunkOf(position);
  const before = state.tables.marks.get(markKey(id, n))?.marks;
  state.putMarks({ group: id, n, marks: withMark(before, position, mark) });
}
