// The calls of AdminService: tenants, vClusters and the cluster itself.

import type { Caller, CallOptions } from "../call.ts";
import type { ClusterStatus } from "../cluster-types.ts";
import type { Signals } from "../explain-types.ts";
import type { Deleted, Queue, ServerMetrics } from "../operate-types.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import { readText } from "../transport/transport.ts";
import type {
  Paging,
  Tenant,
  TenantCreate,
  TenantPage,
  TenantResponse,
  TenantUpdate,
  VCluster,
  VClusterCreate,
  VClusterPage,
  VClusterResponse,
  VClusterSettings,
} from "../types.ts";
import type { ChangeOptions } from "./allocations.ts";

const METRICS_TIMEOUT_MS = 30_000;

export interface TenantCalls {
  create(tenant: TenantCreate, options?: ChangeOptions): Promise<TenantResponse>;
  get(id: string, options?: CallOptions): Promise<Tenant>;
  list(paging?: Paging, options?: CallOptions): Promise<TenantPage>;
  update(id: string, changes: TenantUpdate, options?: ChangeOptions): Promise<TenantResponse>;
  /** Refused while it has work or vClusters. */
  delete(id: string, options?: ChangeOptions): Promise<Deleted>;
}

export interface VClusterCalls {
  create(vcluster: VClusterCreate, options?: ChangeOptions): Promise<VClusterResponse>;
  get(id: string, options?: CallOptions): Promise<VCluster>;
  list(paging?: Paging, options?: CallOptions): Promise<VClusterPage>;
  update(id: string, changes: VClusterSettings, options?: ChangeOptions): Promise<VClusterResponse>;
  /** Refused while it has work or home nodes. */
  delete(id: string, options?: ChangeOptions): Promise<Deleted>;
  /** What waits there, in order. */
  queue(id: string, paging?: Paging, options?: CallOptions): Promise<Queue>;
}

export interface SignalCalls {
  get(options?: CallOptions): Promise<Signals>;
  /** Replaces all that was set before, for an hour unless stated. */
  set(signals: Signals, options?: ChangeOptions & { readonly validSeconds?: number | undefined }): Promise<Signals>;
}

export const signalCalls = (caller: Caller): SignalCalls => ({
  get: (options) => caller.json({ method: "GET", path: "/api/v1/admin/signals" }, options),
  set: (signals, options = {}) =>
    caller.json(
      {
        method: "PUT",
        path: "/api/v1/admin/signals",
        body: withRequestId(
          { signals, ...(options.validSeconds === undefined ? {} : { valid_seconds: options.validSeconds }) },
          options.requestId,
        ),
        repeatable: true,
      },
      options,
    ),
});

export const tenantCalls = (caller: Caller): TenantCalls => resourceCalls(caller, "/api/v1/tenants") as TenantCalls;

export const vclusterCalls = (caller: Caller): VClusterCalls =>
  ({
    ...resourceCalls(caller, "/api/v1/vclusters"),
    queue: (id: string, paging: Paging = {}, options?: CallOptions) => {
      const path = `/api/v1/vclusters/${encodeURIComponent(id)}/queue${queryString(paging)}`;
      return caller.json({ method: "GET", path }, options);
    },
  }) as VClusterCalls;

export const clusterStatus = (caller: Caller, options?: CallOptions): Promise<ClusterStatus> =>
  caller.json({ method: "GET", path: "/api/v1/raft/status" }, options);

export interface ServerMetricsQuery {
  readonly component?: string | undefined;
  /** How far back; without it, the values of now alone. */
  readonly duration_seconds?: number | undefined;
}

export const serverMetrics = (
  caller: Caller,
  query: ServerMetricsQuery = {},
  options?: CallOptions,
): Promise<ServerMetrics> =>
  caller.json({ method: "GET", path: `/api/v1/admin/metrics${queryString(query)}` }, options);

export async function metricsText(caller: Caller, options: CallOptions = {}): Promise<string> {
  const call = { method: "GET", path: "/metrics", headers: { accept: "text/plain" } } as const;
  const response = await caller.open(call, { ...options, idleTimeoutMs: options.timeoutMs ?? METRICS_TIMEOUT_MS });
  return readText(response.body);
}

/** Both resources have the same calls at different addresses. */
function resourceCalls(caller: Caller, base: string) {
  const change = (method: "POST" | "PATCH", path: string, body: object, options: ChangeOptions = {}) =>
    caller.json(
      {
        method,
        path,
        body: withRequestId(body, options.requestId),
        repeatable: true,
      },
      options,
    );
  const at = (id: string) => `${base}/${encodeURIComponent(id)}`;
  return {
    create: (body: object, options?: ChangeOptions) => change("POST", base, body, options),
    update: (id: string, body: object, options?: ChangeOptions) => change("PATCH", at(id), body, options),
    get: (id: string, options?: CallOptions) => caller.json({ method: "GET", path: at(id) }, options),
    delete: (id: string, options: ChangeOptions = {}) => {
      const query = queryString(withRequestId({}, options.requestId));
      return caller.json({ method: "DELETE", path: `${at(id)}${query}`, repeatable: true }, options);
    },
    list: (paging: Paging = {}, options?: CallOptions) =>
      caller.json({ method: "GET", path: `${base}${queryString(paging)}` }, options),
  };
}
