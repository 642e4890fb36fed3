// Which hardware has more to spare than which, for placements that are packed.

import type { NodeInput } from "../node-input.ts";

/** By kind: its place among all kinds in order of what they have; equal ones share one. All fit, so the least has least to spare. */
export function roomOf({ kinds }: { readonly kinds: readonly NodeInput[] }): Int32Array {
  const order = [...kinds.keys()].sort((a, b) => byRoom(kinds[a] as NodeInput, kinds[b] as NodeInput) || a - b);
  const places = new Int32Array(kinds.length);
  let place = 0;
  for (const [at, kind] of order.entries()) {
    const before = order[at - 1];
    if (before !== undefined && byRoom(kinds[before] as NodeInput, kinds[kind] as NodeInput) !== 0) place += 1;
    places[kind] = place;
  }
  return places;
}

/** Borrowed ones last, then by GPUs, by memory, by cores. */
const byRoom = (a: NodeInput, b: NodeInput): number =>
  Number(a.lender !== undefined) - Number(b.lender !== undefined) ||
  a.gpuCount - b.gpuCount ||
  a.memoryBytes - b.memoryBytes ||
  a.cpuCores - b.cpuCores;
