// Reads the frames of one segment in order, in chunks of bounded size, and checks each. Recovery
// and readers both go through here; what a bad frame means is theirs to say.

import { type OpenFile, readFully } from "./files.ts";
import { decodeHeader, FRAME_HEADER_BYTES, type FrameHeader, frameMatches } from "./frame.ts";

/** Read at once; a larger frame is read whole. */
const CHUNK_BYTES = 1024 * 1024;

export interface FrameAt {
  readonly offset: number;
  readonly header: FrameHeader;
  /** Valid until the next call. */
  readonly frame: Buffer;
}

export interface FrameReader {
  /** The frame at the current place; null when none that matches is there before `end`. */
  next(): Promise<FrameAt | null>;
  /** Where the next frame would begin. */
  offset(): number;
}

export function readFrames(file: OpenFile, salt: number, from: number, end: number): FrameReader {
  let chunk: Buffer = Buffer.alloc(0);
  let chunkAt = from;
  let offset = from;

  /** Makes `bytes` at the current offset available, where the file has them. */
  const fill = async (bytes: number): Promise<Buffer> => {
    const have = chunkAt + chunk.length - offset;
    if (have < bytes && offset + have < end) {
      const wanted = Math.min(Math.max(bytes, CHUNK_BYTES), end - offset);
      const fresh = Buffer.allocUnsafe(wanted);
      const got = await readFully(file, fresh, offset);
      chunk = fresh.subarray(0, got);
      chunkAt = offset;
    }
    return chunk.subarray(offset - chunkAt, offset - chunkAt + bytes);
  };

  return {
    offset: () => offset,
    async next() {
      const header = decodeHeader(await fill(FRAME_HEADER_BYTES), 0);
      if (header === null) return null;
      const total = FRAME_HEADER_BYTES + header.bodyBytes;
      if (offset + total > end) return null;
      const frame = await fill(total);
      if (!frameMatches(frame, header, salt)) return null;
      const at = { offset, header, frame };
      offset += total;
      return at;
    },
  };
}
