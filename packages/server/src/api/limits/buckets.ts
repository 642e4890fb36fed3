// Token buckets by name. A full bucket equals a new one, so full buckets are evicted first when there are too many.
// Time is an argument.

export interface Rate {
  /** The capacity of the bucket. */
  readonly burst: number;
  readonly perSecond: number;
}

interface Buckets {
  /** Takes one token. Returns 0, or the milliseconds until one is available. */
  take(name: string, rate: Rate, nowMs: number): number;
  readonly size: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
  readonly fullAfterMs: number;
}

/** Enough for a few buckets per caller of the last minute. */
const MAX_BUCKETS = 50_000;

export function createBuckets(most = MAX_BUCKETS): Buckets {
  const buckets = new Map<string, Bucket>();

  function begin(name: string, { burst, perSecond }: Rate, nowMs: number): Bucket {
    if (buckets.size >= most) forget(nowMs);
    const bucket = { tokens: burst, atMs: nowMs, fullAfterMs: (burst / perSecond) * 1_000 };
    buckets.set(name, bucket);
    return bucket;
  }

  function forget(nowMs: number): void {
    for (const [name, { atMs, fullAfterMs }] of buckets) if (nowMs - atMs >= fullAfterMs) buckets.delete(name);
    // All buckets are in use: the oldest is reset, in the caller's favour.
    if (buckets.size >= most) buckets.delete(buckets.keys().next().value ?? "");
  }

  return {
    take(name, rate, nowMs) {
      const bucket = buckets.get(name) ?? begin(name, rate, nowMs);
      const filled = bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * rate.perSecond;
      bucket.tokens = Math.min(rate.burst, filled);
      bucket.atMs = nowMs;
      if (bucket.tokens < 1) return ((1 - bucket.tokens) / rate.perSecond) * 1_000;
      bucket.tokens -= 1;
      return 0;
    },
    get size() {
      return buckets.size;
    },
  };
}
