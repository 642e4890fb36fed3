// Converts the index ranges in a command to positions of a task group.

import { elementId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { rejected } from "../../base/outcome.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import type { IndexRange } from "../../model/group/range.ts";
import { countUpTo, describeRange, sizeOf } from "../../model/group/range.ts";

/** First and last position. */
export type Span = readonly [number, number];

export const wholeSpan = ({ range }: TaskGroup): Span => [0, sizeOf(range) - 1];

/** Returns the positions between two indexes; null when there are none. */
export function spanOf({ range }: TaskGroup, { from, to }: IndexRange): Span | null {
  const first = countUpTo(range, from - 1);
  const last = countUpTo(range, to) - 1;
  return Number.isSafeInteger(first) && first <= last ? [first, last] : null;
}

export function noSuchElements(group: TaskGroup, { from, to }: IndexRange): Outcome {
  const what = from === to ? `element ${elementId(group.id, from)}` : `element of ${group.id} from ${from} to ${to}`;
  const indexes = describeRange(group.range);
  const [first = ""] = indexes.split(",", 1);
  return rejected({
    code: "unknown_allocation",
    detail: `there is no ${what}: the group has ${indexes}`,
    hint: `Name indexes of the group, such as ${group.id}_${first}; \`lattice status ${group.id}\` shows their states.`,
  });
}
