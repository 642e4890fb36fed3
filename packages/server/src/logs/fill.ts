// A node frees what it has sent to the store, whether or not whoever reads has got it by then. Where the pieces that it
// brings leave bytes out, those are looked for in the store, as it is at that moment, and put in their place. What
// the store does not have either was lost, and stays left out: readers see it by the positions.

import type { ArchivedLog, LogPiece } from "./archive.ts";

/** What is stored by now; null: nothing. */
export type StoredNow = () => Promise<Pick<ArchivedLog, "from"> | null>;

export async function* filled(
  pieces: AsyncIterable<LogPiece>,
  /** Null: it begins wherever its first piece does. */
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
