// When each node is available. A free node is available at any time, a busy one after the last of its releases, an
// overdue one soon, and one without a known release never (Infinity).

import type { NodeId } from "@lattice/core";
import { hasBit } from "../base/bits.ts";
import { OVERDUE_RELEASE } from "../base/bounds.ts";
import type { CycleInput, NodeInput, PreparedInput } from "../input/cycle-input.ts";

/** Earlier than any instant in question, and equal in all cycles. */
export const FREE = 0;

interface NodeNumbers {
  readonly indexOf: ReadonlyMap<NodeId, number>;
}

/** Writes into `from`. */
export function availability(
  input: Pick<CycleInput, "releases" | "now" | "prepared">,
  nodes: readonly NodeInput[],
  { indexOf }: NodeNumbers,
  from: Float64Array,
): Float64Array {
  if (input.prepared !== undefined) return fromPrepared(input.prepared, input.now, from);
  from.fill(Number.NEGATIVE_INFINITY);
  for (const release of input.releases) {
    const at = expectedRelease(release.endsAt, input.now);
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

function fromPrepared(
  { free, releasedAt: known, releaseTally }: PreparedInput,
  now: number,
  from: Float64Array,
): Float64Array {
  from.set(known);
  if (!releaseTally.isOverdue(now)) return from;
  for (let index = 0; index < from.length; index += 1) {
    if ((from[index] as number) <= now && !hasBit(free, index))
      from[index] = expectedRelease(from[index] as number, now);
  }
  return from;
}

/** Returns when a node is expected: an overdue one soon, an unbounded one never. */
export function expectedRelease(endsAt: number | null, now: number): number {
  if (endsAt === null) return Number.POSITIVE_INFINITY;
  return endsAt > now ? endsAt : now + OVERDUE_RELEASE;
}
