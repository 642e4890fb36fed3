// A mergeable summary of many values: count, sum, maximum, and a histogram whose buckets grow with the value, so that a
// quantile is off by at most 1/64. Merging adds the counts of buckets, in any order, so quantiles over many nodes and
// times are those of all their values; quantiles themselves must never be averaged.

/** Buckets per power of two, as a power of two. */
const SHIFT = 5;
const PER_OCTAVE = 1 << SHIFT;
/** Values below 2^-20 share bucket 0 with zero. */
const LOWEST_EXPONENT = -20;
/** Values from 2^63 on share the last bucket. */
const HIGHEST_EXPONENT = 63;
const LAST_BUCKET = ((HIGHEST_EXPONENT - LOWEST_EXPONENT) << SHIFT) + 1;

export interface Sketch {
  count: number;
  sum: number;
  max: number;
  /** Number of values by bucket. */
  readonly buckets: Map<number, number>;
}

export const emptySketch = (): Sketch => ({ count: 0, sum: 0, max: 0, buckets: new Map() });

export function addValue(sketch: Sketch, value: number): void {
  const amount = Math.max(0, value);
  sketch.count += 1;
  sketch.sum += amount;
  sketch.max = Math.max(sketch.max, amount);
  const bucket = bucketOf(amount);
  sketch.buckets.set(bucket, (sketch.buckets.get(bucket) ?? 0) + 1);
}

export function mergeSketch(into: Sketch, other: Readonly<Sketch>): void {
  into.count += other.count;
  into.sum += other.sum;
  into.max = Math.max(into.max, other.max);
  for (const [bucket, count] of other.buckets) into.buckets.set(bucket, (into.buckets.get(bucket) ?? 0) + count);
}

/** `part` from 0 to 1. Returns null without values. */
export function quantileOf({ count, max, buckets }: Readonly<Sketch>, part: number): number | null {
  if (count === 0) return null;
  const rank = Math.max(1, Math.ceil(part * count));
  let seen = 0;
  for (const bucket of [...buckets.keys()].sort((a, b) => a - b)) {
    seen += buckets.get(bucket) ?? 0;
    // The middle of a bucket can lie above the highest value in it.
    if (seen >= rank) return Math.min(max, (lowerBound(bucket) + lowerBound(bucket + 1)) / 2);
  }
  return max;
}

/** Pairs of bucket and count, by ascending bucket. */
export const packedBuckets = ({ buckets }: Readonly<Sketch>): number[] => [...buckets].sort(([a], [b]) => a - b).flat();

/** Reads `packedBuckets` of another program: malformed pairs are ignored, and the count is that of the buckets. */
export function sketchOf(facts: { readonly sum: number; readonly max: number }, packed: readonly number[]): Sketch {
  const sketch = emptySketch();
  for (let at = 0; at + 1 < packed.length; at += 2) {
    const [bucket = -1, count = 0] = [packed[at], packed[at + 1]];
    if (!Number.isInteger(bucket) || bucket < 0 || bucket > LAST_BUCKET || !(count > 0)) continue;
    sketch.buckets.set(bucket, (sketch.buckets.get(bucket) ?? 0) + count);
    sketch.count += count;
  }
  sketch.sum = Number.isFinite(facts.sum) ? Math.max(0, facts.sum) : 0;
  sketch.max = Number.isFinite(facts.max) ? Math.max(0, facts.max) : 0;
  return sketch;
}

const float = new DataView(new ArrayBuffer(8));

/** The exponent and the first bits of the fraction of the number's own representation. */
export function bucketOf(value: number): number {
  if (!(value >= 2 ** LOWEST_EXPONENT)) return 0;
  if (value >= 2 ** HIGHEST_EXPONENT) return LAST_BUCKET;
  float.setFloat64(0, value);
  const high = float.getUint32(0);
  const exponent = ((high >>> 20) & 0x7ff) - 1023;
  const fraction = (high >>> (20 - SHIFT)) & (PER_OCTAVE - 1);
  return ((exponent - LOWEST_EXPONENT) << SHIFT) + fraction + 1;
}

function lowerBound(bucket: number): number {
  if (bucket <= 0) return 0;
  const at = bucket - 1;
  return 2 ** ((at >> SHIFT) + LOWEST_EXPONENT) * (1 + (at & (PER_OCTAVE - 1)) / PER_OCTAVE);
}
