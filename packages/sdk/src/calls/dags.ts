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
import { withRequestId } from "../request-id.ts";
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
  return {
    submit: (dag, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: "/api/v1/dags",
          body: withRequestId(dag, options.requestId),
          repeatable: true,
        },
        options,
      ),
    get: (id, options) => caller.json({ method: "GET", path: at(id) }, options),
    graph: (id, options) => caller.json({ method: "GET", path: at(id, "/graph") }, options),
    list: (filter = {}, options) => caller.json({ method: "GET", path: `/api/v1/dags${queryString(filter)}` }, options),
    cancel: (id, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: at(id, "/cancel"),
          body: withRequestId(options.reason === undefined ? {} : { reason: options.reason }, options.requestId),
          repeatable: true,
        },
        options,
      ),
  };
}
