// The calls of NetworkService.

import type { Caller, CallOptions } from "../call.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";

export interface NetworkDomain {
  readonly tenant: string;
  readonly name: string;
  readonly vni: number;
  readonly state: "active" | "draining";
  readonly allocation_ids?: readonly string[];
  readonly grace_seconds?: number;
  readonly created_at?: string;
  readonly released_at?: string;
  readonly private?: boolean;
  readonly sensitive?: boolean;
  readonly fabric?: "ready" | "waiting";
  readonly fabric_problem?: string;
}

export interface DomainList {
  readonly domains?: readonly NetworkDomain[];
  readonly vni_pool_start?: number;
  readonly vni_pool_end?: number;
  readonly vnis_used?: number;
  readonly max_domains_per_tenant?: number;
}

export interface NetworkCalls {
  list(filter?: { readonly tenant?: string }, options?: CallOptions): Promise<DomainList>;
  /** Of the caller's tenant unless another is named. */
  get(name: string, of?: { readonly tenant?: string }, options?: CallOptions): Promise<NetworkDomain>;
  /** How long the domain outlives its last member. */
  setGrace(name: string, graceSeconds: number, of?: { readonly tenant?: string }): Promise<NetworkDomain>;
}

export function networkCalls(caller: Caller): NetworkCalls {
  const at = (name: string) => `/api/v1/networks/${encodeURIComponent(name)}`;
  return {
    list: (filter = {}, options) =>
      caller.json({ method: "GET", path: `/api/v1/networks${queryString(filter)}` }, options),
    get: (name, of = {}, options) => caller.json({ method: "GET", path: `${at(name)}${queryString(of)}` }, options),
    setGrace: (name, graceSeconds, of = {}) =>
      caller.json({
        method: "POST",
        path: `${at(name)}/grace`,
        body: withRequestId({ grace_seconds: graceSeconds, ...of }),
        repeatable: true,
      }),
  };
}
