// Amounts of machine time: one node for one millisecond, one GPU for one millisecond. Whole numbers,
// so that replicas agree; milliseconds rather than seconds, so that thousands of short attempts add up
// to what they used and not to what rounding makes of them.

export interface Amount {
  readonly nodeMs: number;
  readonly gpuMs: number;
}

export const NO_USE: Amount = { nodeMs: 0, gpuMs: 0 };

export const MS_PER_HOUR = 3_600_000;

/** Stops at the largest whole number that is exact: a million nodes for a year stay far below it. */
export const plus = (a: Amount, b: Amount): Amount => ({
  nodeMs: saturated(a.nodeMs + b.nodeMs),
  gpuMs: saturated(a.gpuMs + b.gpuMs),
});

/** Returns the use of these nodes and GPUs over this time. */
export const amountOf = (held: { readonly nodes: number; readonly gpus: number }, ms: number): Amount => ({
  nodeMs: saturated(held.nodes * ms),
  gpuMs: saturated(held.gpus * ms),
});

/** Parts of a node make parts of a millisecond, which are left out. */
const saturated = (n: number): number => Math.floor(Math.min(n, Number.MAX_SAFE_INTEGER));
