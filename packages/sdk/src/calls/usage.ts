// What has been used: by a tenant, or by a user.

import type { Caller, CallOptions } from "../call.ts";
import { queryString } from "../query.ts";
import type { Usage, UsageQuery, UserUsageQuery } from "../usage-types.ts";

export interface UsageCalls {
  tenant(id: string, query?: UsageQuery, options?: CallOptions): Promise<Usage>;
  /** The caller's own when no user is named. */
  user(query?: UserUsageQuery, options?: CallOptions): Promise<Usage>;
}

export const usageCalls = (caller: Caller): UsageCalls => {
  const get = (path: string, query: object, options?: CallOptions): Promise<Usage> =>
    caller.json({ method: "GET", path: `${path}${queryString(query)}` }, options);
  return {
    tenant: (id, query = {}, options) => get(`/api/v1/tenants/${encodeURIComponent(id)}/usage`, query, options),
    user: (query = {}, options) => get("/api/v1/usage", query, options),
  };
};
