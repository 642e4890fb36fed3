// Caches the number of matches of long lists. A page is found quickly, but counting all matches walks the whole state,
// so the same list within some seconds gets the cached count.

import type { ControlPlane } from "../call/control-plane.ts";

const MAX_AGE_MS = 10_000;
/** The number of cached filters; the oldest is evicted first. */
const MAX_CACHED = 256;

interface Counted {
  readonly total: number;
  readonly at: number;
}

const cache = new WeakMap<ControlPlane, Map<string, Counted>>();

/** `key` identifies the filter and the caller. */
export function recentTotal(plane: ControlPlane, key: string, count: () => number): number {
  const totals = cache.get(plane) ?? new Map<string, Counted>();
  cache.set(plane, totals);
  const known = totals.get(key);
  const now = performance.now();
  if (known !== undefined && now - known.at < MAX_AGE_MS) return known.total;
  const total = count();
  totals.delete(key);
  if (totals.size >= MAX_CACHED) totals.delete(totals.keys().next().value ?? "");
  totals.set(key, { total, at: now });
  return total;
}
