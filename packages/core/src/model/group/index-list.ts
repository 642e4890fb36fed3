// Parses lists of indexes: "0-99", "0-99:2", "1,3,5-7". Items may have any order and may overlap, as in generated
// lists; each index is one element.

import { GROUP_LIMIT, MAX_RUNS } from "./group.ts";
import { type IndexRun, sizeOf } from "./range.ts";

/** Overlapping items are expanded up to this number of indexes; above it, items must not overlap. */
const MAX_SPELLED = 100_000;

const ITEM = /^(\d{1,9})(?:-(\d{1,9}))?(?::(\d{1,9}))?$/;

type ParsedIndexes =
  | { readonly kind: "runs"; readonly runs: readonly IndexRun[] }
  | { readonly kind: "bad"; readonly detail: string };

export function parseIndexes(text: string): ParsedIndexes {
  const items = text.split(",", MAX_SPELLED + 1);
  if (items.length > MAX_SPELLED) return bad(`names more than ${MAX_SPELLED} items`);
  const runs: IndexRun[] = [];
  for (const item of items) {
    const run = parseItem(item.trim());
    if (run === null) return bad(`"${item}" is not ${items.length === 1 ? "a range of indexes" : "an index"}`);
    runs.push(run);
  }
  // The check of single ranges reports their own problems.
  if (runs.length === 1) return { kind: "runs", runs };
  const odd = runs.findIndex(({ start, end, step }) => start > end || step < 1);
  if (odd >= 0) return bad(`has "${items[odd]}", which names no index`);
  const sorted = runs.toSorted((a, b) => a.start - b.start || a.end - b.end || a.step - b.step);
  const apart = overlaps(sorted) ? spelledOut(sorted) : sorted;
  if (apart === null) return bad(`names indexes twice; of more than ${MAX_SPELLED}, write each once`);
  const joined = join(apart);
  return joined.length > MAX_RUNS ? bad(`has ${joined.length} ranges; the limit is ${MAX_RUNS}`) : ok(joined);
}

const bad = (detail: string): ParsedIndexes => ({ kind: "bad", detail });
const ok = (runs: readonly IndexRun[]): ParsedIndexes => ({ kind: "runs", runs });

function parseItem(text: string): IndexRun | null {
  const match = ITEM.exec(text);
  if (match === null) return null;
  const start = Number(match[1]);
  return { start, end: Number(match[2] ?? start), step: Number(match[3] ?? 1) };
}

const overlaps = (sorted: readonly IndexRun[]): boolean =>
  sorted.some(({ start }, n) => n > 0 && start <= (sorted[n - 1]?.end ?? -1));

function spelledOut(runs: readonly IndexRun[]): readonly IndexRun[] | null {
  const total = runs.reduce((sum, run) => sum + sizeOf(run), 0);
  if (total > Math.min(MAX_SPELLED, GROUP_LIMIT)) return null;
  const indexes = new Set<number>();
  for (const { start, end, step } of runs) for (let index = start; index <= end; index += step) indexes.add(index);
  return [...indexes].sort((a, b) => a - b).map((index) => ({ start: index, end: index, step: 1 }));
}

/** Merges "5,6,7" to "5-7"; the end of a run is its last element. */
function join(sorted: readonly IndexRun[]): readonly IndexRun[] {
  const joined: IndexRun[] = [];
  for (const { start, end, step } of sorted) {
    const count = sizeOf({ start, end, step });
    const run = { start, end: start + (count - 1) * step, step: count === 1 ? 1 : step };
    const last = joined.at(-1);
    if (last?.step === 1 && run.step === 1 && last.end + 1 === run.start) {
      joined[joined.length - 1] = { start: last.start, end: run.end, step: 1 };
    } else joined.push(run);
  }
  return joined;
}
