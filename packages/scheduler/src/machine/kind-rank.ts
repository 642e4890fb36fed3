// Ranks kinds of hardware by capacity, for vClusters that pack.

import type { NodeInput } from "../input/node-input.ts";

/** Returns the rank of each kind; equal kinds share one. All of them fit, so the lowest rank wastes least. */
export function rankKinds({ kinds }: { readonly kinds: readonly NodeInput[] }): Int32Array {
  const order = [...kinds.keys()].sort(
    (a, b) => compareCapacity(kinds[a] as NodeInput, kinds[b] as NodeInput) || a - b,
  );
  const places = new Int32Array(kinds.length);
  let place = 0;
  for (const [at, kind] of order.entries()) {
    const before = order[at - 1];
    if (before !== undefined && compareCapacity(kinds[before] as NodeInput, kinds[kind] as NodeInput) !== 0) place += 1;
    places[kind] = place;
  }
  return places;
}

/** Borrowed kinds last, then by GPUs, by memory, by cores. */
const compareCapacity = (a: NodeInput, b: NodeInput): number =>
  Number(a.lender !== undefined) - Number(b.lender !== undefined) ||
  a.gpuCount - b.gpuCount ||
  a.memoryBytes - b.memoryBytes ||
  a.cpuCores - b.cpuCores;
