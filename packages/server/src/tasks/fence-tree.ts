// The tree by which the nodes of a large launch exchange addresses among themselves: the first node is the top, and every
// node has so many below it. Up to a limit all of them go through the leader instead, which takes one step. Pure.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";

/** Three steps reach 33,000 nodes. */
export const NODES_BELOW_ONE = 32;

export interface TreeWish {
  /** Where the agent of each node is reached by others; empty: nowhere. */
  readonly addresses: readonly string[];
  /** Their names. */
  readonly nodes: readonly string[];
  /** Up to so many nodes exchange through the leader. */
  readonly starNodes: number;
  readonly key: string;
}

/** By node; null: through the leader, because they are few, or because not all can be reached. */
export function fencePlaces({ addresses, nodes, starNodes, key }: TreeWish): readonly pb.FencePlace[] | null {
  if (addresses.length <= starNodes || addresses.some((address) => address === "")) return null;
  return addresses.map((_, own) => {
    const first = own * NODES_BELOW_ONE + 1;
    const below = Array.from({ length: NODES_BELOW_ONE }, (_each, n) => first + n).filter((n) => n < addresses.length);
    const above = own === 0 ? -1 : Math.floor((own - 1) / NODES_BELOW_ONE);
    return create(pb.FencePlaceSchema, {
      ...{ own, below, key, above: addresses[above] ?? "", aboveNode: nodes[above] ?? "" },
      belowNodes: below.map((n) => nodes[n] ?? ""),
    });
  });
}
