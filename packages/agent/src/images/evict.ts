// Chooses images to evict so that a new one fits: least recently used first, the largest first among equals; never an
// image in use or sticky. It continues to the low mark, so that the next image does not evict again. Pure.

export interface CacheEntry {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly lastUsedMs: number;
  readonly sticky: boolean;
  readonly pins: number;
}

export interface CacheMarks {
  readonly sizeBytes: number;
  /** Thousandths of the size. */
  readonly highMilli: number;
  readonly lowMilli: number;
}

/** Eviction begins above 90 % and stops below 70 %. */
export const HIGH_MILLI = 900;
export const LOW_MILLI = 700;

type EvictionPlan =
  | { readonly kind: "fits"; readonly evict: readonly string[] }
  /** The image exceeds the whole cache. */
  | { readonly kind: "too_large" }
  /** All other images are in use or sticky. */
  | { readonly kind: "full" };

/** `freeBytes`: free space of the file system. */
export function planEviction(
  entries: readonly CacheEntry[],
  neededBytes: number,
  marks: CacheMarks,
  freeBytes: number,
): EvictionPlan {
  if (neededBytes > marks.sizeBytes) return { kind: "too_large" };
  const used = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const high = (marks.sizeBytes * marks.highMilli) / 1000;
  if (used + neededBytes <= high && neededBytes <= freeBytes) return { kind: "fits", evict: [] };
  const low = (marks.sizeBytes * marks.lowMilli) / 1000;
  const evict: string[] = [];
  let left = used;
  let free = freeBytes;
  for (const entry of entries.filter(({ pins, sticky }) => pins === 0 && !sticky).toSorted(byAge)) {
    if (left + neededBytes <= low && neededBytes <= free) break;
    evict.push(entry.digest);
    left -= entry.sizeBytes;
    free += entry.sizeBytes;
  }
  const fits = left + neededBytes <= marks.sizeBytes && neededBytes <= free;
  return fits ? { kind: "fits", evict } : { kind: "full" };
}

const byAge = (a: CacheEntry, b: CacheEntry): number =>
  a.lastUsedMs - b.lastUsedMs || b.sizeBytes - a.sizeBytes || (a.digest < b.digest ? -1 : 1);
