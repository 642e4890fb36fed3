// Reads the frames of one segment in order, in chunks of bounded size, and verifies each. Recovery and readers both
// use it and decide for themselves what a bad frame means.

import { type OpenFile, readFully } from "./files.ts";
import { decodeHeader, FRAME_HEADER_BYTES, type FrameHeader, frameMatches } from "./frame.ts";

/** Bytes per read; a larger frame is read as a whole. */
const CHUNK_BYTES = 1024 * 1024;

interface FrameAt {
  readonly offset: number;
  readonly header: FrameHeader;
  /** Valid until the next call. */
  readonly frame: Buffer;
}

export interface FrameReader {
  /** Returns the frame at the current offset; `null` when no valid frame is there before `end`. */
  next(): Promise<FrameAt | null>;
  /** Offset of the next frame. */
  offset(): number;
}

export function readFrames(file: OpenFile, salt: number, from: number, end: number): FrameReader {
  let chunk: Buffer = Buffer.alloc(0);
  let chunkAt = from;
  let offset = from;

  /** Buffers `bytes` at the current offset, as far as the file has them. */
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
