// Streams state changes. After a broken connection the stream resumes behind the last event received
// (`Last-Event-ID`). A server that no longer has that position answers 410, and the stream ends with
// the problem `cursor_gone`: only the caller can list again and find out what it has missed.

import type { WatchEvent, WatchRequest } from "../gen/types.ts";
import type { Caller, CallOptions } from "./call.ts";
import { errorFromAnswer, LatticeError } from "./error.ts";
import { queryString } from "./query.ts";
import { backoffMs, DEFAULT_RETRY, sleep } from "./retry.ts";
import { parseEvents } from "./sse.ts";
import { hasLapsed } from "./token.ts";

export type WatchFilter = Omit<WatchRequest, "cursor">;

export interface WatchOptions extends CallOptions {
  /** Cursor of the last event received. Default: only new events. */
  readonly after?: string;
  /** Called after every (re)connect, so that a caller can read the state without a gap. */
  readonly onOpen?: () => void;
}

/** The server sends a comment at least this often; silence beyond it means a dead connection. */
const SILENCE_LIMIT_MS = 60_000;

/** A server that restarts or fails over is back well before this many tries. */
const MAX_RECONNECTS = 20;

export async function* watchEvents(
  caller: Caller,
  filter: WatchFilter,
  options: WatchOptions = {},
): AsyncGenerator<WatchEvent> {
  let cursor = options.after ?? "";
  let opened = false;
  for (let failures = 0; ; ) {
    try {
      const response = await openStream(caller, filter, cursor, options);
      opened = true;
      options.onOpen?.();
      for await (const { id, event: kind, data } of parseEvents(response.body)) {
        // The server is stopping, or has dropped events for this slow reader.
        if (kind === "problem") throw errorFromAnswer(0, data);
        failures = 0;
        const event = JSON.parse(data) as WatchEvent;
        cursor = id !== "" ? id : event.cursor;
        yield event;
      }
    } catch (error) {
      if (options.signal?.aborted === true) return;
      if (!opened || failures >= MAX_RECONNECTS || !isPassing(error)) throw error;
    }
    failures += 1;
    await sleep(backoffMs(DEFAULT_RETRY, failures, Math.random()), options.signal).catch(() => {});
    if (options.signal?.aborted === true) return;
  }
}

/** The connection or server was lost, or the token expired; the request itself is valid. */
const isPassing = (error: unknown): boolean =>
  hasLapsed(error) || (error instanceof LatticeError && error.problem.retryable);

function openStream(caller: Caller, filter: WatchFilter, cursor: string, options: WatchOptions) {
  return caller.open(
    {
      method: "GET",
      path: `/api/v1/events${queryString(filter)}`,
      headers: { accept: "text/event-stream", ...(cursor === "" ? {} : { "last-event-id": cursor }) },
    },
    { ...options, idleTimeoutMs: SILENCE_LIMIT_MS },
  );
}

export const isCursorGone = (error: unknown): boolean =>
  error instanceof LatticeError && (error.problem.code === "cursor_gone" || error.httpStatus === 410);
