// The calls of NodeService.

import type { Caller, CallOptions } from "../call.ts";
import type { NodeCondition } from "../condition-types.ts";
import type { HealthReport } from "../event-types.ts";
import { eachItem } from "../pages.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type { Node, NodeFilter, NodePage, NodeResponse, Paging } from "../types.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface NodeChangeOptions extends ChangeOptions {
  readonly reason?: string | undefined;
}

export interface DrainOptions extends NodeChangeOptions {
  /** What runs there is checkpointed and queued again, where it can be. */
  readonly urgent?: boolean | undefined;
}

export interface NodeCalls {
  list(filter?: NodeFilter & Paging, options?: CallOptions): Promise<NodePage>;
  listAll(filter?: NodeFilter, options?: CallOptions & { readonly pageSize?: number }): AsyncGenerator<Node>;
  get(id: string, options?: CallOptions): Promise<Node>;
  /** What its agent finds of it; `fresh`: after looking again. */
  condition(id: string, options?: CallOptions & { readonly fresh?: boolean }): Promise<NodeCondition>;
  drain(id: string, options?: DrainOptions): Promise<NodeResponse>;
  undrain(id: string, options?: ChangeOptions): Promise<NodeResponse>;
  disable(id: string, options?: NodeChangeOptions): Promise<NodeResponse>;
  enable(id: string, options?: ChangeOptions): Promise<NodeResponse>;
  /** At which vCluster it is at home; "": it serves all. */
  assign(id: string, vcluster: string, options?: ChangeOptions): Promise<NodeResponse>;
  /** What something that watches the node from outside has found. */
  reportHealth(id: string, report: HealthReport, options?: ChangeOptions): Promise<NodeResponse>;
}

const LIST_PAGE_SIZE = 500;

export function nodeCalls(caller: Caller): NodeCalls {
  const list: NodeCalls["list"] = (filter = {}, options) =>
    caller.json({ method: "GET", path: `/api/v1/nodes${queryString(filter)}` }, options);
  const act =
    (action: string) =>
    (id: string, options: DrainOptions = {}): Promise<NodeResponse> =>
      caller.json(
        {
          method: "POST",
          path: `/api/v1/nodes/${encodeURIComponent(id)}/${action}`,
          body: withRequestId(
            {
              ...(options.reason === undefined ? {} : { reason: options.reason }),
              ...(options.urgent === undefined ? {} : { urgent: options.urgent }),
            },
            options.requestId,
          ),
          repeatable: true,
        },
        options,
      );
  return {
    assign: (id, vcluster, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: `/api/v1/nodes/${encodeURIComponent(id)}/assign`,
          body: withRequestId({ vcluster }, options.requestId),
          repeatable: true,
        },
        options,
      ),
    list,
    listAll: (filter = {}, options = {}) =>
      eachItem(
        (paging) => list({ ...filter, ...paging }, options),
        (page) => page.nodes ?? [],
        options.pageSize ?? LIST_PAGE_SIZE,
      ),
    get: (id, options) => caller.json({ method: "GET", path: `/api/v1/nodes/${encodeURIComponent(id)}` }, options),
    condition: (id, { fresh = false, ...options } = {}) =>
      caller.json(
        {
          method: "GET",
          path: `/api/v1/nodes/${encodeURIComponent(id)}/condition${fresh ? "?fresh=true" : ""}`,
        },
        options,
      ),
    drain: act("drain"),
    undrain: act("undrain"),
    disable: act("disable"),
    enable: act("enable"),
    reportHealth: (id, report, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: `/api/v1/nodes/${encodeURIComponent(id)}/health`,
          body: withRequestId(report, options.requestId),
          repeatable: true,
        },
        options,
      ),
  };
}
