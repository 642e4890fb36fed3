// What an agent writes beside the chunks, so that a range can be found without reading them. The allocation's
// own is written by its first node, and a node writes only its own, so that no two write the same.

import type { LogOwner, NodeMetadata } from "@lattice/wire";

export interface Owner extends LogOwner {
  readonly attempt: number;
  readonly user: string;
  readonly nodes: readonly string[];
  readonly nodeIndex: number;
}

export const allocationMetadata = (owner: Owner): object => ({
  version: 1,
  allocation: owner.allocationId,
  tenant: owner.tenant,
  project: owner.project,
  user: owner.user,
  attempt: owner.attempt,
  nodes: owner.nodes,
  ranges: Object.fromEntries(owner.nodes.map((node) => [node, `metadata/${node}.json`])),
});

export const emptyMetadata = (owner: Owner, node: string): NodeMetadata => ({
  version: 1,
  allocation: owner.allocationId,
  node,
  chunks: [],
  complete: [],
  dropped: 0,
});
