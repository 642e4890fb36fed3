// Calls about how work does: measured values, diagnostics, comparisons.

import type { Caller, CallOptions } from "../call.ts";
import { eventsUntilEnd } from "../go-on.ts";
import type { Comparison, Diagnostics, MetricsAnswer, MetricsEvent, MetricsQuery } from "../observe-types.ts";
import { queryString } from "../query.ts";

export interface ObserveCalls {
  metrics(id: string, query?: MetricsQuery, options?: CallOptions): Promise<MetricsAnswer>;
  /** Values as they come, until the signal, the allocation's end, or word that nothing is measured. */
  streamMetrics(
    id: string,
    query?: { readonly metrics?: readonly string[]; readonly alerts_only?: boolean },
    options?: CallOptions,
  ): AsyncGenerator<MetricsEvent>;
  /** `section`: network, storage, gpus or nodes; all of them otherwise. */
  diagnostics(id: string, section?: string, options?: CallOptions): Promise<Diagnostics>;
  compare(
    ids: readonly string[],
    query?: { readonly metrics?: readonly string[]; readonly align?: string },
    options?: CallOptions,
  ): Promise<Comparison>;
}

export function observeCalls(caller: Caller): ObserveCalls {
  const at = (id: string, rest: string) => `/api/v1/allocations/${encodeURIComponent(id)}${rest}`;
  const get = <T>(path: string, options?: CallOptions): Promise<T> => caller.json<T>({ method: "GET", path }, options);
  return {
    metrics: (id, query = {}, options) => get(at(id, `/metrics${queryString(query)}`), options),
    streamMetrics: (id, query = {}, options = {}) =>
      eventsUntilEnd<MetricsEvent>(caller, () => at(id, `/metrics/stream${queryString(query)}`), options),
    diagnostics: (id, section, options) => get(at(id, `/diagnostics${queryString({ section })}`), options),
    compare: (ids, query = {}, options) => get(`/api/v1/compare${queryString({ ids, ...query })}`, options),
  };
}
