// Reads output from its location: the stored part from the store, the rest from the node. Output that only one of
// them has is read from that one; an unreachable node does not hide the stored part, and output that the node deletes
// meanwhile comes from the store.

import { ProblemError } from "@lattice/wire";
import type { ArchivedLog, LogPiece } from "./archive.ts";
import type { LogsQuery } from "./query.ts";

export type LiveLogs = (query: LogsQuery, signal: AbortSignal) => AsyncIterable<LogPiece>;

export async function* readLogs(
  query: LogsQuery,
  /** Returns the stored part at the time of the call; `null` when nothing is stored. */
  find: () => Promise<ArchivedLog | null>,
  live: LiveLogs,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const stored = await find();
  if (query.tail > 0) return yield* tailOf(query, stored, (tail) => filled(live(tail, signal), null, find));
  let reached: number | null = null;
  if (stored !== null)
    for await (const piece of stored.read(query)) {
      if (signal.aborted) return;
      reached = piece.offset;
      yield piece;
    }
  if (stored?.complete) return;
  const byTime = query.sinceMs > 0 || query.untilMs > 0;
  const offset = reached ?? query.offset;
  yield* filled(live({ ...query, offset }, signal), reached ?? (byTime ? null : offset), find);
}

/** The node has the newest lines; the store answers when the node is gone and everything was stored. */
async function* tailOf(
  query: LogsQuery,
  stored: ArchivedLog | null,
  live: (query: LogsQuery) => AsyncIterable<LogPiece>,
): AsyncGenerator<LogPiece> {
  let some = false;
  try {
    for await (const piece of live(query)) {
      some = true;
      yield piece;
    }
  } catch (error) {
    const away = error instanceof ProblemError && AWAY.has(error.problem.code);
    if (some || !away || stored === null || !stored.complete) throw error;
    yield* stored.tail(query.tail);
  }
}

const AWAY: ReadonlySet<string> = new Set(["node_unreachable", "logs_unavailable"]);

/** The stored part; `null` when nothing is stored. */
type StoredNow = () => Promise<Pick<ArchivedLog, "from"> | null>;

/**
 * A node deletes stored output, even while it is read: missing bytes are then read from the store. Bytes that the store
 * lacks too are lost, and readers see it by the positions.
 */
async function* filled(
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
