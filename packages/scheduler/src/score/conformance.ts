// f9, the conformance of the chosen nodes, in [0, 1]: the most nodes with one fingerprint over the requested nodes.
// Nodes without a fingerprint match no other. One node always scores 1.

export function conformance(sizes: Iterable<number>, requested: number): number {
  if (requested <= 1) return 1;
  let largest = 0;
  for (const size of sizes) largest = Math.max(largest, size);
  return Math.min(1, largest / requested);
}
