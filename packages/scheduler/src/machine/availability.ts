// When each node can be had. A free node: at any time. A busy node comes back with the last of its releases;
// one that is overdue comes back soon. Infinity where nobody knows.

import type { NodeId } from "@lattice/core";
import { hasBit } from "../bits.ts";
import type { CycleInput, Ground, NodeInput } from "../cycle-types.ts";
import { EXPECTED_BACK_SOON } from "../limits.ts";

/** Before any instant that is asked about, and the same from cycle to cycle. */
export const FREE = 0;

interface Place {
  readonly indexOf: ReadonlyMap<NodeId, number>;
}

/** Written into `from`. */
export function availability(
  input: CycleInput,
  nodes: readonly NodeInput[],
  { indexOf }: Place,
  from: Float64Array,
): Float64Array {
  if (input.ground !== undefined) return fromGround(input.ground, input.now, from);
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
    if (node.free) from[index] = FREE;
    else if (!node.usable || from[index] === Number.NEGATIVE_INFINITY) from[index] = Number.POSITIVE_INFINITY;
  }
  return from;
}

function fromGround({ free, from: known, returning }: Ground, now: number, from: Float64Array): Float64Array {
  from.set(known);
  if (!returning.isOverdue(now)) return from;
  for (let index = 0; index < from.length; index += 1) {
    if ((from[index] as number) <= now && !hasBit(free, index)) from[index] = releasedAt(from[index] as number, now);
  }
  return from;
}

/** What is overdue is expected soon; null never ends. */
export function releasedAt(endsAt: number | null, now: number): number {
  if (endsAt === null) return Number.POSITIVE_INFINITY;
  return endsAt > now ? endsAt : now + EXPECTED_BACK_SOON;
}
