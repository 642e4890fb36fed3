// The layout of stored output in an object store. Agents write it and servers read it, so both must change together.
// Next to the chunks there is one `metadata.json` per allocation and one index per node, with the offsets and times of
// every chunk.

export interface ChunkEntry {
  readonly stream: "stdout" | "stderr";
  readonly attempt: number;
  readonly chunk: number;
  /** Offsets in the log of the attempt; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** When its first and last bytes were read, in milliseconds since 1970. */
  readonly from_ms: number;
  readonly to_ms: number;
}

export interface NodeMetadata {
  readonly version: 1;
  readonly allocation: string;
  readonly node: string;
  readonly chunks: readonly ChunkEntry[];
  /** Attempts whose output is complete. */
  readonly complete: readonly { readonly attempt: number; readonly stdout: number; readonly stderr: number }[];
  /** Bytes dropped because the store was unavailable for too long. */
  readonly dropped: number;
}

/** The owner of the output. */
export interface LogOwner {
  readonly allocationId: string;
  readonly tenant: string;
  readonly project: string;
}

const logFolder = ({ tenant, project, allocationId }: LogOwner): string =>
  `${tenant}/${project === "" ? "default" : encodeURIComponent(project)}/${allocationId}/logs`;

/** chunk_000, chunk_001, ...; more digits when needed. */
export const chunkKey = (
  owner: LogOwner,
  node: string,
  { stream, chunk }: Pick<ChunkEntry, "stream" | "chunk">,
): string => `${logFolder(owner)}/${stream}/${node}/chunk_${String(chunk).padStart(3, "0")}.log.zst`;

export const nodeMetadataKey = (owner: LogOwner, node: string): string => `${logFolder(owner)}/metadata/${node}.json`;
export const metadataKey = (owner: LogOwner): string => `${logFolder(owner)}/metadata.json`;
