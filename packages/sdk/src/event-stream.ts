// The event history of one allocation as a stream that reconnects behind the last event it received.

import type { AllocationEvent, ListEventsRequest } from "../gen/types.ts";
import type { Caller, CallOptions } from "./call.ts";
import { eventsUntilEnd } from "./finite-stream.ts";
import { queryString } from "./query.ts";

export interface EventStream {
  /** Streams past and future events of one allocation until it ends. */
  stream(id: string, query?: Omit<ListEventsRequest, "id">, options?: CallOptions): AsyncGenerator<AllocationEvent>;
}

export const eventStream = (caller: Caller): EventStream => ({
  async *stream(id, query = {}, options = {}) {
    let { cursor } = query;
    const path = () =>
      `/api/v1/allocations/${encodeURIComponent(id)}/events/stream${queryString({ ...query, cursor })}`;
    for await (const event of eventsUntilEnd<AllocationEvent>(caller, path, options)) {
      cursor = event.cursor;
      yield event;
    }
  },
});
