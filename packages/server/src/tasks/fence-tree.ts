// How the nodes of a very large launch would pass addresses on to each other instead of all going
// through one place: up to 128 nodes a star, above that a tree in which no node has more than 32
// below it. Pure: positions in the layout, the first node at the top.

/** One place can merge and send this many in a few milliseconds. */
export const LARGEST_STAR = 128;
/** Two levels reach a thousand nodes, three reach thirty thousand. */
export const TREE_WIDTH = 32;

export interface FencePlace {
  /** Null: the top. */
  readonly parent: number | null;
  readonly children: readonly number[];
}

export function fencePlan(nodeCount: number): readonly FencePlace[] {
  const width = nodeCount <= LARGEST_STAR ? Math.max(1, nodeCount - 1) : TREE_WIDTH;
  return Array.from({ length: nodeCount }, (_, place) => ({
    parent: place === 0 ? null : Math.floor((place - 1) / width),
    children: childrenOf(place, width, nodeCount),
  }));
}

/** Steps from the farthest node to the top. */
export function fenceDepth(plan: readonly FencePlace[]): number {
  let deepest = 0;
  for (let place = plan.length - 1; place >= 0; place -= 1) {
    let depth = 0;
    for (let at: number | null = place; at !== null && at !== 0; at = plan[at]?.parent ?? null) depth += 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function childrenOf(place: number, width: number, nodeCount: number): readonly number[] {
  const first = place * width + 1;
  const last = Math.min(nodeCount - 1, place * width + width);
  return first > last ? [] : Array.from({ length: last - first + 1 }, (_, n) => first + n);
}
