// Where bytes of a log are missing between what was asked for and what came: the node has freed them for newer output, or
// they could not be stored. Detected by offsets alone, for output from nodes and from the archive. What was asked for by lines or by time
// begins wherever its first bytes are.

import type { LogsQuery } from "../../nodes/output/query.ts";

export interface Chunk {
  readonly data: Uint8Array;
  /** Position after it. */
  readonly offset: number;
  /** Bytes before it that are gone. */
  readonly skipped: number;
}

export async function* withGaps(
  { tail, sinceMs, untilMs, offset: asked }: Pick<LogsQuery, "tail" | "sinceMs" | "untilMs" | "offset">,
  chunks: AsyncIterable<Pick<Chunk, "data" | "offset">>,
): AsyncGenerator<Chunk> {
  let position = tail > 0 || sinceMs > 0 || untilMs > 0 ? null : asked;
  for await (const { data, offset } of chunks) {
    const start = offset - data.length;
    const skipped = position === null ? 0 : Math.max(0, start - position);
    position = offset;
    yield { data, offset, skipped };
  }
}
