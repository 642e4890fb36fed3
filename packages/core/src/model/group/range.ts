// The indexes of a task group: every `step`-th index from `start` to `end`, or a list of such runs. Positions count
// elements from 0, in index order. A run stores the number of elements before it, so that no lookup scans the list.

export interface IndexRun {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** A run of several. */
export interface ListedRun extends IndexRun {
  /** The number of elements in earlier runs. */
  readonly before: number;
}

/** With `runs`, only the indexes of the runs, which are in order. */
export interface ElementRange extends IndexRun {
  readonly runs?: readonly ListedRun[];
}

/** Builds a range from ordered, disjoint runs. */
export function rangeOfRuns(runs: readonly IndexRun[]): ElementRange {
  const [first, second] = runs;
  if (first !== undefined && second === undefined) return { start: first.start, end: first.end, step: first.step };
  let before = 0;
  const listed = runs.map(({ start, end, step }) => {
    const run = { start, end, step, before };
    before += runSize(run);
    return run;
  });
  return { start: first?.start ?? 0, end: runs.at(-1)?.end ?? 0, step: 1, runs: listed };
}

export function sizeOf(range: ElementRange): number {
  const last = range.runs?.at(-1);
  return last === undefined ? runSize(range) : last.before + runSize(last);
}

const runSize = ({ start, end, step }: IndexRun): number => Math.floor((end - start) / step) + 1;

export function indexAt(range: ElementRange, position: number): number {
  if (range.runs === undefined) return range.start + position * range.step;
  const run = lastRun(range.runs, ({ before }) => before <= position);
  return run === undefined ? range.start : run.start + (position - run.before) * run.step;
}

/** Returns `null` when the group has no such element. */
export function positionOf(range: ElementRange, index: number): number | null {
  if (range.runs === undefined) return positionIn(range, index);
  const run = lastRun(range.runs, ({ start }) => start <= index);
  const position = run === undefined ? null : positionIn(run, index);
  return run === undefined || position === null ? null : run.before + position;
}

function positionIn({ start, end, step }: IndexRun, index: number): number | null {
  if (index < start || index > end || (index - start) % step !== 0) return null;
  return (index - start) / step;
}

/** Returns the number of elements with an index up to this one. */
export function countUpTo(range: ElementRange, index: number): number {
  const run = range.runs === undefined ? range : lastRun(range.runs, ({ start }) => start <= index);
  if (run === undefined || index < run.start) return 0;
  const before = "before" in run ? run.before : 0;
  return before + Math.min(runSize(run), Math.floor((index - run.start) / run.step) + 1);
}

/** Binary search: returns the last item for which the monotonic predicate holds. */
function lastRun(runs: readonly ListedRun[], holds: (run: ListedRun) => boolean): ListedRun | undefined {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const run = runs[middle];
    if (run !== undefined && holds(run)) low = middle + 1;
    else high = middle;
  }
  return runs[low - 1];
}

/** "0-99", "0-99:2", "1,3,5-7". */
export const describeRange = (range: ElementRange): string =>
  range.runs === undefined ? describeRun(range) : range.runs.map(describeListed).join(",");

const describeRun = ({ start, end, step }: IndexRun): string =>
  step === 1 ? `${start}-${end}` : `${start}-${end}:${step}`;

const describeListed = (run: IndexRun): string => (run.start === run.end ? `${run.start}` : describeRun(run));

/** Both ends are included. */
export interface IndexRange {
  readonly from: number;
  readonly to: number;
}
