// Output from where it is: the part that lies in the store from there, the rest from the node. What
// only one of them has is read from that one; a node that is away does not hide what is stored.

import { ProblemError } from "@lattice/wire";
import type { LogsQuery } from "../api/control-plane.ts";
import type { ArchivedLog, LogPiece } from "./archive.ts";

export type LiveLogs = (query: LogsQuery, signal: AbortSignal) => AsyncIterable<LogPiece>;

export async function* readLogs(
  query: LogsQuery,
  stored: ArchivedLog | null,
  live: LiveLogs,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  if (stored === null) return yield* live(query, signal);
  if (query.tail > 0) return yield* tailOf(query, stored, live, signal);
  let { offset } = query;
  for await (const piece of stored.read(query)) {
    if (signal.aborted) return;
    offset = piece.offset;
    yield piece;
  }
  if (stored.complete) return;
  yield* live({ ...query, offset }, signal);
}

/** The node has the newest lines; the store answers when it is gone and all was stored. */
async function* tailOf(
  query: LogsQuery,
  stored: ArchivedLog,
  live: LiveLogs,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  let some = false;
  try {
    for await (const piece of live(query, signal)) {
      some = true;
      yield piece;
    }
  } catch (error) {
    const away = error instanceof ProblemError && AWAY.has(error.problem.code);
    if (some || !away || !stored.complete) throw error;
    yield* stored.tail(query.tail);
  }
}

const AWAY: ReadonlySet<string> = new Set(["node_unreachable", "logs_unavailable"]);
