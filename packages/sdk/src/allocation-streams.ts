// Allocation calls that are more than one request: holds, events and output.

import { rootCalls } from "../gen/calls.ts";
import type { MetricsEvent, StreamMetricsRequest, UpdateAllocationResponse, WatchEvent } from "../gen/types.ts";
import type { Caller, CallOptions, ChangeOptions } from "./call.ts";
import { eventsUntilEnd } from "./finite-stream.ts";
import { followLogs, type LogsFilter } from "./follow-logs.ts";
import { queryString } from "./query.ts";
import { type WatchFilter, type WatchOptions, watchEvents } from "./watch.ts";

export interface AllocationStreams {
  /** Holds pending work: an allocation, a task group, or elements such as 12_3 or 12_[3-9,20]. */
  hold(id: string, options?: ChangeOptions): Promise<UpdateAllocationResponse>;
  /** Releases held work. */
  release(id: string, options?: ChangeOptions): Promise<UpdateAllocationResponse>;
  /** Streams state changes; reconnects where it stopped. */
  watch(filter?: WatchFilter, options?: WatchOptions): AsyncGenerator<WatchEvent>;
  /** Streams the output captured so far, as raw bytes. */
  logs(id: string, filter?: LogsFilter, options?: CallOptions): AsyncGenerator<Uint8Array>;
  /** Streams output until the allocation ends, as raw bytes; reconnects where it stopped. */
  streamLogs(id: string, filter?: LogsFilter, options?: CallOptions): AsyncGenerator<Uint8Array>;
  /** Streams measured values until the allocation ends or the server reports that nothing is measured. */
  streamMetrics(
    id: string,
    query?: Omit<StreamMetricsRequest, "id">,
    options?: CallOptions,
  ): AsyncGenerator<MetricsEvent>;
}

export function allocationStreams(caller: Caller): AllocationStreams {
  const at = (id: string, rest: string) => `/api/v1/allocations/${encodeURIComponent(id)}${rest}`;
  const { update } = rootCalls(caller);
  return {
    hold: (id, options) => update(id, { hold: true }, options),
    release: (id, options) => update(id, { hold: false }, options),
    watch: (filter = {}, options) => watchEvents(caller, filter, options),
    logs: (id, filter = {}, options = {}) => rawBytes(caller, at(id, `/logs${queryString(filter)}`), options),
    streamLogs: (id, filter = {}, options = {}) => followLogs(caller, at(id, "/logs/stream"), filter, options),
    streamMetrics: (id, query = {}, options = {}) =>
      eventsUntilEnd<MetricsEvent>(caller, () => at(id, `/metrics/stream${queryString(query)}`), options),
  };
}

/** A job may be silent for hours, so there is no idle timeout; the signal ends the wait. */
async function* rawBytes(caller: Caller, path: string, options: CallOptions): AsyncGenerator<Uint8Array> {
  const response = await caller.open(
    { method: "GET", path, headers: { accept: "application/octet-stream" } },
    { ...options, idleTimeoutMs: 0 },
  );
  yield* response.body;
}
