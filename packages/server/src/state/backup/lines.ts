// Splits a stream of bytes into batches of text lines, as they arrive, so that the reader can yield between batches.

import { BackupError } from "./format/backup-error.ts";

/** Longer than any record: a file without line breaks must not fill the memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export async function* lineBatches(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer[], void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const text = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, from)) {
      lines.push(text.subarray(from, end));
      from = end + 1;
    }
    rest = Buffer.from(text.subarray(from));
    if (rest.length > MAX_LINE_BYTES) throw new BackupError("damaged", "it has a line without an end");
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [rest];
}
