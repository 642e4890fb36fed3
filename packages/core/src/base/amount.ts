// Amounts of machine time: node-milliseconds and GPU-milliseconds. Integers, so that replicas agree; milliseconds, so
// that thousands of short attempts are not distorted by rounding.

export interface Amount {
  readonly nodeMs: number;
  readonly gpuMs: number;
}

export const NO_USE: Amount = { nodeMs: 0, gpuMs: 0 };

export const MS_PER_HOUR = 3_600_000;

/** Saturates at the largest exact integer, far above a million nodes for a year. */
export const plus = (a: Amount, b: Amount): Amount => ({
  nodeMs: saturated(a.nodeMs + b.nodeMs),
  gpuMs: saturated(a.gpuMs + b.gpuMs),
});

/** Returns the use of these nodes and GPUs over this time. */
export const amountOf = (held: { readonly nodes: number; readonly gpus: number }, ms: number): Amount => ({
  nodeMs: saturated(held.nodes * ms),
  gpuMs: saturated(held.gpus * ms),
});

/** Fractions of a millisecond, from shares of nodes, are dropped. */
const saturated = (n: number): number => Math.floor(Math.min(n, Number.MAX_SAFE_INTEGER));
