// Output from where it is: the part that lies in the store from there, the rest from the node. What
// only one of them has is read from that one; a node that is away does not hide what is stored, and what the
// node frees while it is read comes from the store after all.

import { ProblemError } from "@lattice/wire";
import type { LogsQuery } from "../api/control-plane.ts";
import type { ArchivedLog, LogPiece } from "./archive.ts";
import { filled } from "./fill.ts";

export type LiveLogs = (query: LogsQuery, signal: AbortSignal) => AsyncIterable<LogPiece>;

export async function* readLogs(
  query: LogsQuery,
  /** What is stored at the time of the call; null: nothing. */
  find: () => Promise<ArchivedLog | null>,
  live: LiveLogs,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const stored = await find();
  if (query.tail > 0) return yield* tailOf(query, stored, (asked) => filled(live(asked, signal), null, find));
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

/** The node has the newest lines; the store answers when it is gone and all was stored. */
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
