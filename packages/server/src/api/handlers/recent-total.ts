// Caches the number of matches of long lists. A page is found quickly, but counting all matches walks the whole state,
// so the same list gets the cached count: as it is within some seconds, and while it is counted again up to a minute.

import type { ControlPlane } from "../call/control-plane.ts";

const FRESH_MS = 10_000;
/** An older count is not shown. */
const MAX_AGE_MS = 60_000;
/** The number of cached filters; the oldest is evicted first. */
const MAX_CACHED = 256;

interface Counted {
  readonly total: number;
  readonly at: number;
}

interface Totals {
  readonly counted: Map<string, Counted>;
  readonly counting: Map<string, Promise<number>>;
}

const cache = new WeakMap<ControlPlane, Totals>();

/** `key` identifies the filter and the caller. Callers with the same key share one count. */
export async function recentTotal(plane: ControlPlane, key: string, count: () => Promise<number>): Promise<number> {
  const totals = cache.get(plane) ?? { counted: new Map(), counting: new Map() };
  cache.set(plane, totals);
  const known = totals.counted.get(key);
  const age = performance.now() - (known?.at ?? Number.NEGATIVE_INFINITY);
  if (known !== undefined && age < FRESH_MS) return known.total;
  const counting = totals.counting.get(key) ?? countAgain(totals, key, count);
  if (known === undefined || age >= MAX_AGE_MS) return counting;
  // A failed count is tried again by the next list.
  counting.catch(() => undefined);
  return known.total;
}

function countAgain({ counted, counting }: Totals, key: string, count: () => Promise<number>): Promise<number> {
  const running = count()
    .then((total) => {
      counted.delete(key);
      if (counted.size >= MAX_CACHED) counted.delete(counted.keys().next().value ?? "");
      counted.set(key, { total, at: performance.now() });
      return total;
    })
    .finally(() => counting.delete(key));
  counting.set(key, running);
  return running;
}
