// A node deletes output that it has sent to the store, even while it is read. Where its pieces leave bytes out, the
// missing ones are read from the store as it is then. Bytes that the store lacks too are lost and stay missing:
// readers see it by the positions.

import type { ArchivedLog, LogPiece } from "./archive.ts";

/** The stored part; `null` when nothing is stored. */
type StoredNow = () => Promise<Pick<ArchivedLog, "from"> | null>;

export async function* filled(
  pieces: AsyncIterable<LogPiece>,
  /** `null` to start at the first piece. */
  from: number | null,
  stored: StoredNow,
): AsyncGenerator<LogPiece> {
  let position = from;
  for await (const piece of pieces) {
    const start = piece.offset - piece.data.length;
    if (position !== null && start > position) yield* between(position, start, await stored());
    position = piece.offset;
    yield piece;
  }
}

async function* between(
  start: number,
  end: number,
  stored: Pick<ArchivedLog, "from"> | null,
): AsyncGenerator<LogPiece> {
  if (stored === null) return;
  for await (const { data, offset } of stored.from(start)) {
    const over = offset - end;
    if (over >= data.length) return;
    yield over <= 0 ? { data, offset } : { data: data.subarray(0, data.length - over), offset: end };
    if (over >= 0) return;
  }
}
