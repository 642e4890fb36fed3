// Finds where the last N lines of a file begin by reading backwards, so that the tail of a very large log costs a few
// reads.

import type { FileHandle } from "node:fs/promises";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 10;

/** Returns the offset of the last `lines` lines before `size`. A last line without newline counts. */
export async function tailOffset(file: FileHandle, size: number, lines: number): Promise<number> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let wanted = lines;
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - BLOCK_BYTES);
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
  return 0;
}
