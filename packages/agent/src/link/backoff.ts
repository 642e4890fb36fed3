// Delays between connection attempts: doubling up to a ceiling, half of it random, so that ten thousand agents that
// lost the same server do not return together.

export interface Backoff {
  next(): number;
  reset(): void;
}

interface BackoffLimits {
  readonly firstMs: number;
  readonly ceilingMs: number;
}

export const RECONNECT: BackoffLimits = { firstMs: 100, ceilingMs: 5_000 };

/** The fraction of the heartbeat interval over which the agents of one server spread their return. */
const SPREAD = 0.2;
const MAX_SPREAD_MS = 5_000;

/**
 * Returns the longest delay of the first reconnect after the loss of a working stream. A node that is away for a fifth
 * of the heartbeat interval is not missed, and ten thousand of them return at a rate that a server can serve.
 */
export const spreadOf = (heartbeatIntervalMs: number): number =>
  Math.min(MAX_SPREAD_MS, Math.max(1, heartbeatIntervalMs * SPREAD));

/** A refused agent needs an operator, so it retries less often. */
export const REFUSED: BackoffLimits = { firstMs: 2_000, ceilingMs: 60_000 };

/** Refusals caused by the server's state, which pass soon or do not apply to the next server. */
const TRANSIENT: ReadonlySet<string> = new Set([
  "closed",
  "log_unavailable",
  "not_leader",
  "storage_full",
  "shutting_down",
  "server_behind",
  "server_log_differs",
]);

/** The agent must not serve this cluster. */
export const UNFIT_CLUSTER = "unfit_cluster";

/** Refusals caused by the agent. */
export const isOwn = (code: string): boolean => code.startsWith("server_") || code === UNFIT_CLUSTER;

export const isTransient = (code: string): boolean => TRANSIENT.has(code);

export function backoff({ firstMs, ceilingMs }: BackoffLimits, random: () => number): Backoff {
  let bound = firstMs;
  return {
    next() {
      const wait = bound / 2 + random() * (bound / 2);
      bound = Math.min(bound * 2, ceilingMs);
      return wait;
    },
    reset() {
      bound = firstMs;
    },
  };
}
