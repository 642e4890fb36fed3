// The metadata that an agent writes next to the chunks, so that a range can be found without reading them. The first
// node writes the allocation's metadata, and each node its own, so that no two nodes write the same object.

import type { LogOwner, NodeMetadata } from "@lattice/wire";

export interface LogOwnership extends LogOwner {
  readonly attempt: number;
  readonly user: string;
  readonly nodes: readonly string[];
  readonly nodeIndex: number;
}

export const allocationMetadata = (owner: LogOwnership): object => ({
  version: 1,
  allocation: owner.allocationId,
  tenant: owner.tenant,
  project: owner.project,
  user: owner.user,
  attempt: owner.attempt,
  nodes: owner.nodes,
  ranges: Object.fromEntries(owner.nodes.map((node) => [node, `metadata/${node}.json`])),
});

export const emptyMetadata = (owner: LogOwnership, node: string): NodeMetadata => ({
  version: 1,
  allocation: owner.allocationId,
  node,
  chunks: [],
  complete: [],
  dropped: 0,
});
