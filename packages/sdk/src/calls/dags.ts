// The calls of DagService.

import type { Caller, CallOptions } from "../call.ts";
import type {
  CancelDagResponse,
  Dag,
  DagFilter,
  DagGraph,
  DagPage,
  DagSubmission,
  SubmitDagResponse,
} from "../dag-types.ts";
import { queryString } from "../query.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface DagCalls {
  submit(dag: DagSubmission, options?: ChangeOptions): Promise<SubmitDagResponse>;
  get(id: string, options?: CallOptions): Promise<Dag>;
  graph(id: string, options?: CallOptions): Promise<DagGraph>;
  list(filter?: DagFilter, options?: CallOptions): Promise<DagPage>;
  cancel(id: string, options?: ChangeOptions & { readonly reason?: string | undefined }): Promise<CancelDagResponse>;
}

export function dagCalls(caller: Caller): DagCalls {
  const at = (id: string, rest = "") => `/api/v1/dags/${encodeURIComponent(id)}${rest}`;
  const named = (requestId: string | undefined) => (requestId === undefined ? {} : { request_id: requestId });
  return {
    submit: (dag, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: "/api/v1/dags",
          body: { ...dag, ...named(options.requestId) },
          repeatable: options.requestId !== undefined,
        },
        options,
      ),
    get: (id, options) => caller.json({ method: "GET", path: at(id), repeatable: true }, options),
    graph: (id, options) => caller.json({ method: "GET", path: at(id, "/graph"), repeatable: true }, options),
    list: (filter = {}, options) =>
      caller.json({ method: "GET", path: `/api/v1/dags${queryString(filter)}`, repeatable: true }, options),
    // Cancelling what is cancelled already answers the same, so a lost answer may be asked for again.
    cancel: (id, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: at(id, "/cancel"),
          body: { ...(options.reason === undefined ? {} : { reason: options.reason }), ...named(options.requestId) },
          repeatable: true,
        },
        options,
      ),
  };
}
