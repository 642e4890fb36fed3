// What lies in the store beside the chunks, so that a range can be found without reading them: one
// `metadata.json` for the allocation, written by its first node, and one file for each node with
// every chunk, its offsets and its times. A node writes only its own, so that no two write the same.

export interface ChunkEntry {
  readonly stream: "stdout" | "stderr";
  readonly attempt: number;
  readonly chunk: number;
  /** Offsets in the log of the attempt; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** When its first and last bytes were seen, milliseconds since 1970. */
  readonly from_ms: number;
  readonly to_ms: number;
}

export interface NodeMetadata {
  readonly version: 1;
  readonly allocation: string;
  readonly node: string;
  readonly chunks: readonly ChunkEntry[];
  /** Attempts whose output is all there. */
  readonly complete: readonly { readonly attempt: number; readonly stdout: number; readonly stderr: number }[];
  /** Bytes that were lost because the store was away for too long. */
  readonly dropped: number;
}

export interface Owner {
  readonly allocationId: string;
  readonly attempt: number;
  readonly tenant: string;
  readonly project: string;
  readonly user: string;
  readonly nodes: readonly string[];
  readonly nodeIndex: number;
}

export const folderOf = ({ tenant, project, allocationId }: Owner): string =>
  `${tenant}/${project === "" ? "default" : encodeURIComponent(project)}/${allocationId}/logs`;

/** chunk_000 and so on; more digits when they are needed. */
export const chunkKey = (owner: Owner, node: string, { stream, chunk }: Pick<ChunkEntry, "stream" | "chunk">): string =>
  `${folderOf(owner)}/${stream}/${node}/chunk_${String(chunk).padStart(3, "0")}.log.zst`;

export const nodeMetadataKey = (owner: Owner, node: string): string => `${folderOf(owner)}/metadata/${node}.json`;
export const metadataKey = (owner: Owner): string => `${folderOf(owner)}/metadata.json`;

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
