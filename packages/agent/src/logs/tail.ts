// Finds where the last N lines of a file begin by reading backwards, so that the tail of a very large log costs a few
// reads. It reads a bounded part: a file with holes may claim any size, and lines may have any length.

import type { FileHandle } from "node:fs/promises";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 10;
const MIN_READ_BYTES = 16 * 1024 * 1024;
const MAX_READ_BYTES = 256 * 1024 * 1024;
/** Far longer than lines are. */
const BYTES_PER_LINE = 1_024;

/**
 * Returns the offset of the last `lines` lines before `size`. A last line without newline counts. Where the lines are
 * longer than may be read, returns the offset of the part that was read.
 */
export async function tailOffset(file: FileHandle, size: number, lines: number): Promise<number> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let wanted = lines;
  const first = Math.max(0, size - Math.min(MAX_READ_BYTES, MIN_READ_BYTES + lines * BYTES_PER_LINE));
  let end = size;
  while (end > first) {
    const start = Math.max(first, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (block[at] !== NEWLINE) continue;
      // The newline that ends the file ends its last line; it does not begin another.
      if (start + at === size - 1) continue;
      wanted -= 1;
      if (wanted === 0) return start + at + 1;
    }
    end = start;
  }
  return first;
}
