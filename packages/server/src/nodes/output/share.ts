// Followers of one output share one stream from its node, so that a hundred cost the node as much as one. The stream
// of the first becomes the feed of later ones; a newcomer reads the part before the feed with its own stream, up to
// the end of the output at that time. Queries by time share nothing.

import type { LogPiece } from "./archive.ts";
import { createFeed, type Feed } from "./feed.ts";
import type { LogsQuery } from "./query.ts";
import type { LiveLogs } from "./read.ts";

export function shareFollowers(open: LiveLogs): LiveLogs {
  const feeds = new Map<string, Feed>();

  return (query, signal) => (query.follow && !byTime(query) ? follow(query, signal) : open(query, signal));

  async function* follow(query: LogsQuery, signal: AbortSignal): AsyncGenerator<LogPiece> {
    const known = feeds.get(keyOf(query));
    const feed = known ?? begin(query);
    feed.join();
    try {
      let position = query.tail > 0 ? null : query.offset;
      // The start of the last lines depends on the current end of the output, which only the node knows.
      if (known !== undefined && position === null) {
        position = query.offset;
        for await (const piece of open({ ...query, follow: false }, signal)) {
          position = piece.offset;
          yield piece;
        }
      }
      while (!signal.aborted) {
        const next = await feed.next(position, signal);
        if (next.kind === "ended") return;
        if (next.kind === "piece") {
          yield unseen(next.piece, position);
          position = next.piece.offset;
          continue;
        }
        position = next.position;
        for await (const piece of open({ ...query, tail: 0, offset: position, follow: false }, signal)) {
          position = piece.offset;
          yield piece;
        }
        // The part in between is no longer available.
        if (position === next.position) position = next.heldFrom;
      }
    } finally {
      feed.leave();
    }
  }

  function begin(query: LogsQuery): Feed {
    const key = keyOf(query);
    const over = new AbortController();
    const feed = createFeed({
      pieces: open(query, over.signal),
      from: query.tail > 0 ? null : query.offset,
      closed() {
        feeds.delete(key);
        over.abort("it has no followers");
      },
    });
    feeds.set(key, feed);
    return feed;
  }
}

const byTime = ({ sinceMs, untilMs }: LogsQuery): boolean => sinceMs > 0 || untilMs > 0;

const keyOf = ({ node, allocation, attempt, stream }: LogsQuery): string =>
  `${node} ${allocation} ${attempt} ${stream}`;

/** Returns the part after `position`; an offset is the position after a piece. */
function unseen(piece: LogPiece, position: number | null): LogPiece {
  const skip = position === null ? 0 : position - (piece.offset - piece.data.length);
  return skip <= 0 ? piece : { data: piece.data.subarray(skip), offset: piece.offset };
}
