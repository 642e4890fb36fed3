// The calls of EventService.

import type { Caller, CallOptions } from "../call.ts";
import { errorFromAnswer } from "../error.ts";
import type { AllocationEvent, EventFilter, EventList, NoticeList } from "../event-types.ts";
import { queryString } from "../query.ts";
import { parseEvents } from "../sse.ts";

export interface EventCalls {
  /** Everything that has happened to one allocation, oldest first. */
  list(id: string, filter?: EventFilter, options?: CallOptions): Promise<EventList>;
  /** The same, and what happens from now on, until it has ended. */
  stream(id: string, filter?: EventFilter, options?: CallOptions): AsyncGenerator<AllocationEvent>;
  /** Notices to the caller, newest first; with `all`, those that are over as well. */
  notices(filter?: { readonly all?: boolean; readonly limit?: number }, options?: CallOptions): Promise<NoticeList>;
}

/** The server sends a comment at least this often; silence beyond it means a dead connection. */
const SILENCE_LIMIT_MS = 60_000;

export function eventCalls(caller: Caller): EventCalls {
  const at = (id: string, rest = "") => `/api/v1/allocations/${encodeURIComponent(id)}/events${rest}`;
  return {
    list: (id, filter = {}, options) => caller.json({ method: "GET", path: at(id, queryString(filter)) }, options),
    stream: (id, filter = {}, options = {}) => streamed(caller, at(id, `/stream${queryString(filter)}`), options),
    notices: (filter = {}, options) =>
      caller.json({ method: "GET", path: `/api/v1/notices${queryString(filter)}` }, options),
  };
}

async function* streamed(caller: Caller, path: string, options: CallOptions): AsyncGenerator<AllocationEvent> {
  const response = await caller.open(
    { method: "GET", path, headers: { accept: "text/event-stream" } },
    { ...options, idleTimeoutMs: SILENCE_LIMIT_MS },
  );
  for await (const { event, data } of parseEvents(response.body)) {
    if (event === "problem") throw errorFromAnswer(0, data);
    yield JSON.parse(data) as AllocationEvent;
  }
}
