// Checks the index range of a task group.

import type { FieldProblem } from "../../base/outcome.ts";
import { isCount, problemList } from "../checks.ts";
import { GROUP_LIMIT, type GroupShape, MAX_ELEMENT_INDEX, MAX_RUNS } from "./group.ts";
import { type ElementRange, type ListedRun, rangeOfRuns, sizeOf } from "./range.ts";

export function checkShape({ range, concurrency }: GroupShape): readonly FieldProblem[] {
  const { start, end, step } = range;
  const problems = problemList();
  const field = "allocation.task_group";
  const index = `must be a whole number from 0 to ${MAX_ELEMENT_INDEX}`;
  problems.unless(isCount(start, 0, MAX_ELEMENT_INDEX), `${field}.start`, index);
  problems.unless(isCount(end, 0, MAX_ELEMENT_INDEX), `${field}.end`, index);
  problems.unless(!(start > end), `${field}.start`, `the first index ${start} is greater than the last, ${end}`);
  problems.unless(isCount(step, 1, MAX_ELEMENT_INDEX), `${field}.step`, "must be a whole number, 1 or more");
  if (range.runs !== undefined) {
    const problem = listProblem(range, range.runs);
    problems.unless(problem === null, `${field}.indexes`, problem ?? "");
  }
  if (problems.list.length === 0) {
    const size = sizeOf(range);
    const detail = `would have ${grouped(size)} elements; the limit is ${grouped(GROUP_LIMIT)}`;
    problems.unless(size <= GROUP_LIMIT, `${field}.end`, detail);
  }
  const good = concurrency === null || isCount(concurrency, 1, GROUP_LIMIT);
  problems.unless(good, `${field}.concurrency`, `must be a whole number from 1 to ${GROUP_LIMIT}`);
  return problems.list;
}

/** 1000000 as 1,000,000. */
const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** Returns `null` when the runs are in order, disjoint, and counted right. */
function listProblem(range: ElementRange, runs: readonly ListedRun[]): string | null {
  if (runs.length > MAX_RUNS) return `has ${runs.length} ranges; the limit is ${MAX_RUNS}`;
  const good = ({ start, end, step }: ListedRun): boolean =>
    isCount(start, 0, MAX_ELEMENT_INDEX) &&
    isCount(end, start, MAX_ELEMENT_INDEX) &&
    isCount(step, 1, MAX_ELEMENT_INDEX);
  if (!runs.every(good)) return "has a range that names no index";
  const inOrder = runs.every(({ start }, n) => n === 0 || start > (runs[n - 1]?.end ?? -1));
  if (!inOrder) return "must name each index once, in order";
  const counted = rangeOfRuns(runs);
  const same = counted.start === range.start && counted.end === range.end && range.step === counted.step;
  const sums = runs.length > 1 && runs.every(({ before }, n) => before === counted.runs?.[n]?.before);
  return same && sums ? null : "does not agree with the range";
}
