// A stream of events that may outlive the token it was opened with: when the server ends it for that, it is opened again with the
// token of now, behind the last event. What else ends it is the caller's to handle.

import type { Caller, CallOptions } from "./call.ts";
import { errorFromAnswer } from "./error.ts";
import { backoffMs, DEFAULT_RETRY, sleep } from "./retry.ts";
import { parseEvents } from "./sse.ts";
import { hasLapsed } from "./token.ts";

/** The server sends a comment at least this often; silence beyond it means a dead connection. */
const SILENCE_LIMIT_MS = 60_000;
/** One after the other, without an event between them. */
const MAX_LAPSES = 20;

/** `pathAfter` says where it goes on behind an event; null: from where it begins. */
export async function* lastingStream<Event>(
  caller: Caller,
  pathAfter: (last: Event | null) => string,
  options: CallOptions,
): AsyncGenerator<Event> {
  let last: Event | null = null;
  for (let lapses = 0; ; ) {
    try {
      for await (const event of opened<Event>(caller, pathAfter(last), options)) {
        lapses = 0;
        last = event;
        yield event;
      }
      return;
    } catch (error) {
      if (!hasLapsed(error) || lapses >= MAX_LAPSES) throw error;
    }
    lapses += 1;
    await sleep(backoffMs(DEFAULT_RETRY, lapses, Math.random()), options.signal);
  }
}

async function* opened<Event>(caller: Caller, path: string, options: CallOptions): AsyncGenerator<Event> {
  const response = await caller.open(
    { method: "GET", path, headers: { accept: "text/event-stream" } },
    { ...options, idleTimeoutMs: SILENCE_LIMIT_MS },
  );
  for await (const { event, data } of parseEvents(response.body)) {
    if (event === "problem") throw errorFromAnswer(0, data);
    yield JSON.parse(data) as Event;
  }
}
