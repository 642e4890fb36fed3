// When each node can be had. A free node: now. A busy node comes back with the last of its releases;
// one that is overdue comes back soon. Infinity where nobody knows.

import type { NodeId } from "@lattice/core";
import type { CycleInput, NodeInput } from "../cycle-types.ts";
import { EXPECTED_BACK_SOON } from "../limits.ts";

export function availability(
  input: CycleInput,
  nodes: readonly NodeInput[],
  indexOf: ReadonlyMap<NodeId, number>,
): Float64Array {
  const from = new Float64Array(nodes.length).fill(Number.NEGATIVE_INFINITY);
  for (const release of input.releases) {
    const at = releasedAt(release.endsAt, input.now);
    for (const id of release.nodes) {
      const index = indexOf.get(id);
      if (index !== undefined && (from[index] as number) < at) from[index] = at;
    }
  }
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index] as NodeInput;
    if (node.free) from[index] = input.now;
    else if (!node.usable || from[index] === Number.NEGATIVE_INFINITY) from[index] = Number.POSITIVE_INFINITY;
  }
  return from;
}

/** What is overdue is expected soon; null never ends. */
export function releasedAt(endsAt: number | null, now: number): number {
  if (endsAt === null) return Number.POSITIVE_INFINITY;
  return endsAt > now ? endsAt : now + EXPECTED_BACK_SOON;
}
