// f9, how alike the chosen nodes are, in [0, 1]: the largest number with one fingerprint over the number
// asked for. Nodes without a fingerprint are alike to nobody. One node is always like itself.

export function conformance(sizes: Iterable<number>, asked: number): number {
  if (asked <= 1) return 1;
  let largest = 0;
  for (const size of sizes) largest = Math.max(largest, size);
  return Math.min(1, largest / asked);
}
