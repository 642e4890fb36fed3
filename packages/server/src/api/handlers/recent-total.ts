// How many matches a long list has, counted now and then: a page is found in no time, and counting all that match
// walks the whole state. Who lists again within some seconds gets the count of before.

import type { ControlPlane } from "../control-plane.ts";

const GOOD_FOR_MS = 10_000;
/** Filters that are remembered; the oldest leave first. */
const MAX_REMEMBERED = 256;

interface Counted {
  readonly total: number;
  readonly at: number;
}

const remembered = new WeakMap<ControlPlane, Map<string, Counted>>();

/** `key` says what is counted, and for whom. */
export function recentTotal(plane: ControlPlane, key: string, count: () => number): number {
  const totals = remembered.get(plane) ?? new Map<string, Counted>();
  remembered.set(plane, totals);
  const known = totals.get(key);
  const now = performance.now();
  if (known !== undefined && now - known.at < GOOD_FOR_MS) return known.total;
  const total = count();
  totals.delete(key);
  if (totals.size >= MAX_REMEMBERED) totals.delete(totals.keys().next().value ?? "");
  totals.set(key, { total, at: now });
  return total;
}
