// Writes lists of indexes as ranges: array elements and task ranks, as Slurm shows them (`1-4,7`, `1-99:2`).

import { consecutive } from "@lattice/wire";

/** Slurm cuts lists of indexes at this many characters. */
const MAX_INDEX_TEXT = 64;
/** A range is written with a step only when it spans more indexes than this, as in Slurm. */
const MIN_STEPPED = 10;

/** Returns `1-99:2`, or null when the indexes are not evenly spaced. */
function steppedText(indexes: readonly number[]): string | null {
  const sorted = indexes.toSorted((a, b) => a - b);
  const [first = 0, second = 0] = sorted;
  const last = sorted.at(-1) ?? 0;
  const step = second - first;
  if (last - first <= MIN_STEPPED || step < 2) return null;
  return sorted.every((index, n) => index === first + n * step) ? `${first}-${last}:${step}` : null;
}

export function indexText(indexes: readonly number[]): string {
  const stepped = steppedText(indexes);
  if (stepped !== null) return stepped;
  const text = consecutive(indexes)
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(",");
  if (text.length <= MAX_INDEX_TEXT) return text;
  const cut = text.slice(0, MAX_INDEX_TEXT);
  return `${cut.slice(0, cut.lastIndexOf(",") + 1)}...`;
}
