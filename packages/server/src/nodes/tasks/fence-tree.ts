// The tree in which the nodes of a large launch exchange addresses: the first node is the root, and every node has a
// fixed number of children. Smaller launches use the leader instead, in one step. Pure.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";

/** Three levels reach 33,000 nodes. */
export const NODES_BELOW_ONE = 32;

interface FenceTreeRequest {
  /** Peer addresses of the agents; empty when an agent has none. */
  readonly addresses: readonly string[];
  /** Names of the nodes. */
  readonly nodes: readonly string[];
  /** Launches on at most this many nodes use the leader. */
  readonly starNodes: number;
  readonly key: string;
}

/** Returns the place of each node; `null` to use the leader, for few nodes or when an agent has no peer address. */
export function fencePlaces({ addresses, nodes, starNodes, key }: FenceTreeRequest): readonly pb.FencePlace[] | null {
  if (addresses.length <= starNodes || addresses.some((address) => address === "")) return null;
  return addresses.map((_, own) => {
    const first = own * NODES_BELOW_ONE + 1;
    const below = Array.from({ length: NODES_BELOW_ONE }, (_each, n) => first + n).filter((n) => n < addresses.length);
    const above = own === 0 ? -1 : Math.floor((own - 1) / NODES_BELOW_ONE);
    return create(pb.FencePlaceSchema, {
      own,
      below,
      key,
      above: addresses[above] ?? "",
      aboveNode: nodes[above] ?? "",
      belowNodes: below.map((n) => nodes[n] ?? ""),
    });
  });
}
