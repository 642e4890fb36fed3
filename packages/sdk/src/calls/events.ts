// The calls of EventService.

import type { Caller, CallOptions } from "../call.ts";
import type { AllocationEvent, EventFilter, EventList, NoticeList } from "../event-types.ts";
import { eventsUntilEnd } from "../go-on.ts";
import { queryString } from "../query.ts";

export interface EventCalls {
  /** Everything that has happened to one allocation, oldest first. */
  list(id: string, filter?: EventFilter, options?: CallOptions): Promise<EventList>;
  /** The same, and what happens from now on, until it has ended; goes on behind what has come when the server is away. */
  stream(id: string, filter?: EventFilter, options?: CallOptions): AsyncGenerator<AllocationEvent>;
  /** Notices to the caller, newest first; with `all`, those that are over as well. */
  notices(filter?: { readonly all?: boolean; readonly limit?: number }, options?: CallOptions): Promise<NoticeList>;
}

export function eventCalls(caller: Caller): EventCalls {
  const at = (id: string, rest = "") => `/api/v1/allocations/${encodeURIComponent(id)}/events${rest}`;
  return {
    list: (id, filter = {}, options) => caller.json({ method: "GET", path: at(id, queryString(filter)) }, options),
    async *stream(id, filter = {}, options = {}) {
      let { cursor } = filter;
      const path = () => at(id, `/stream${queryString({ ...filter, cursor })}`);
      for await (const event of eventsUntilEnd<AllocationEvent>(caller, path, options)) {
        cursor = event.cursor;
        yield event;
      }
    },
    notices: (filter = {}, options) =>
      caller.json({ method: "GET", path: `/api/v1/notices${queryString(filter)}` }, options),
  };
}
