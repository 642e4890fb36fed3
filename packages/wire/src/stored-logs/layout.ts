// Where the output of an allocation lies in a store, and what tells of it there: agents write it, servers read
// it, and neither may change it alone. Beside the chunks lie one `metadata.json` for the allocation and one file
// for each node with every chunk, its offsets and its times.

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

/** Whose output it is. */
export interface LogOwner {
  readonly allocationId: string;
  readonly tenant: string;
  readonly project: string;
}

const logFolder = ({ tenant, project, allocationId }: LogOwner): string =>
  `${tenant}/${project === "" ? "default" : encodeURIComponent(project)}/${allocationId}/logs`;

/** chunk_000 and so on; more digits when they are needed. */
export const chunkKey = (
  owner: LogOwner,
  node: string,
  { stream, chunk }: Pick<ChunkEntry, "stream" | "chunk">,
): string => `${logFolder(owner)}/${stream}/${node}/chunk_${String(chunk).padStart(3, "0")}.log.zst`;

export const nodeMetadataKey = (owner: LogOwner, node: string): string => `${logFolder(owner)}/metadata/${node}.json`;
export const metadataKey = (owner: LogOwner): string => `${logFolder(owner)}/metadata.json`;
