// When each node can be had. A free node: now. A busy node comes back with the last of its releases;
// one that is overdue comes back soon. Infinity where nobody knows.

import type { NodeId } from "@lattice/core";
import type { CycleInput, Ground, NodeInput } from "../cycle-types.ts";
import { EXPECTED_BACK_SOON } from "../limits.ts";

interface Place {
  readonly indexOf: ReadonlyMap<NodeId, number>;
  readonly cells: { readonly ofNode: Int32Array };
}

/** Written into `from`. */
export function availability(
  input: CycleInput,
  nodes: readonly NodeInput[],
  { indexOf, cells }: Place,
  from: Float64Array,
): Float64Array {
  if (input.ground !== undefined) return fromGround(input.ground, cells.ofNode, input.now, from);
  from.fill(Number.NEGATIVE_INFINITY);
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

/** Only a usable node is in a cell. */
function fromGround({ free, until }: Ground, cellOf: Int32Array, now: number, from: Float64Array): Float64Array {
  for (let index = 0; index < cellOf.length; index += 1) {
    if (free[index] === 1) from[index] = now;
    else if ((cellOf[index] as number) < 0) from[index] = Number.POSITIVE_INFINITY;
    else from[index] = releasedAt(until[index] as number, now);
  }
  return from;
}

/** What is overdue is expected soon; null never ends. */
export function releasedAt(endsAt: number | null, now: number): number {
  if (endsAt === null) return Number.POSITIVE_INFINITY;
  return endsAt > now ? endsAt : now + EXPECTED_BACK_SOON;
}
