// The mean utilization of the node's GPUs, for exclusive attempts. Queried again when a caller asks and the last
// answer is some seconds old; outdated values are not reported.

export interface GpuLoad {
  /** Returns the mean over the GPUs that report, from 0 to 1, or null when unknown. Never waits. */
  mean(): number | null;
}

interface GpuLoadSource {
  readonly ask: () => Promise<readonly (number | null)[] | null>;
  readonly now: () => number;
}

/** Each query starts a process, so the interval is bounded. */
const EVERY_MS = 5_000;
/** Heartbeats are ten seconds apart. */
const VALID_MS = 30_000;

export function gpuLoad({ ask, now }: GpuLoadSource): GpuLoad {
  let last: { readonly mean: number; readonly atMs: number } | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let asking = false;

  async function look(): Promise<void> {
    asking = true;
    askedAtMs = now();
    const loads = ((await ask().catch(() => null)) ?? []).filter((load) => load !== null);
    const atMs = now();
    last = loads.length === 0 ? null : { mean: loads.reduce((sum, load) => sum + load, 0) / loads.length, atMs };
    asking = false;
  }

  return {
    mean() {
      if (!asking && now() - askedAtMs >= EVERY_MS) void look();
      return last === null || now() - last.atMs > VALID_MS ? null : last.mean;
    },
  };
}
