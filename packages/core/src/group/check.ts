// Whether a range of elements makes sense by itself.

import { isCount, problemList } from "../allocation/check-values.ts";
import type { FieldProblem } from "../outcome.ts";
import { GROUP_LIMIT, type GroupShape, MAX_ELEMENT_INDEX } from "./group.ts";
import { sizeOf } from "./range.ts";

export function checkShape({ range, concurrency }: GroupShape): readonly FieldProblem[] {
  const { start, end, step } = range;
  const problems = problemList();
  const field = "allocation.task_group";
  const index = `must be a whole number from 0 to ${MAX_ELEMENT_INDEX}`;
  problems.unless(isCount(start, 0, MAX_ELEMENT_INDEX), `${field}.start`, index);
  problems.unless(isCount(end, 0, MAX_ELEMENT_INDEX), `${field}.end`, index);
  problems.unless(!(start > end), `${field}.start`, `must not be above end (${start} > ${end})`);
  problems.unless(isCount(step, 1, MAX_ELEMENT_INDEX), `${field}.step`, "must be a whole number, 1 or more");
  if (problems.list.length === 0) {
    const size = sizeOf(range);
    problems.unless(size <= GROUP_LIMIT, `${field}.end`, `makes ${size} elements, of which at most ${GROUP_LIMIT} go`);
  }
  const good = concurrency === null || isCount(concurrency, 1, GROUP_LIMIT);
  problems.unless(good, `${field}.concurrency`, `must be a whole number from 1 to ${GROUP_LIMIT}`);
  return problems.list;
}
