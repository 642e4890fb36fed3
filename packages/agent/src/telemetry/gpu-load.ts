// How busy the GPUs of this node are on the whole, for attempts that have the node to themselves. Asked anew when somebody wants to
// know and the last answer is some seconds old; what is too old to be true is not told.

export interface GpuLoad {
  /** The mean over those that tell, from 0 to 1; null: not known. Never waits. */
  mean(): number | null;
}

export interface GpuLoadSource {
  readonly ask: () => Promise<readonly (number | null)[] | null>;
  readonly now: () => number;
}

/** A process is started for each look: not more often than this. */
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
    const told = ((await ask().catch(() => null)) ?? []).filter((load) => load !== null);
    const atMs = now();
    last = told.length === 0 ? null : { mean: told.reduce((sum, load) => sum + load, 0) / told.length, atMs };
    asking = false;
  }

  return {
    mean() {
      if (!asking && now() - askedAtMs >= EVERY_MS) void look();
      return last === null || now() - last.atMs > VALID_MS ? null : last.mean;
    },
  };
}
