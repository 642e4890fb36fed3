// The calls of AccessService: roles in tenants, the key of the jobs' tokens, and the log of who did what.

import type { AuditPage, AuditQuery, AuditVerdict, Grant, GrantPage } from "../access-types.ts";
import type { Caller, CallOptions } from "../call.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type { Paging } from "../types.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface GrantCalls {
  add(grant: Pick<Grant, "tenant" | "user" | "role">, options?: ChangeOptions): Promise<{ readonly grant: Grant }>;
  remove(grant: Pick<Grant, "tenant" | "user" | "role">, options?: ChangeOptions): Promise<{ readonly grant: Grant }>;
  list(
    filter?: Paging & { readonly tenant?: string | undefined; readonly user?: string | undefined },
    options?: CallOptions,
  ): Promise<GrantPage>;
}

export interface JobKeyCalls {
  /** `keep_seconds`: how long tokens of the key before stay good; absent: for as long as they live. */
  rotate(
    options?: ChangeOptions & { readonly keep_seconds?: number },
  ): Promise<{ readonly earlier?: readonly { readonly until: string }[] }>;
}

export interface AuditCalls {
  query(query?: AuditQuery, options?: CallOptions): Promise<AuditPage>;
  verify(options?: CallOptions): Promise<AuditVerdict>;
}

const BASE = "/api/v1/grants";

export const grantCalls = (caller: Caller): GrantCalls => ({
  add: ({ tenant, user, role }, options = {}) =>
    caller.json(
      {
        method: "POST",
        path: BASE,
        body: withRequestId({ tenant, user, role }, options.requestId),
        repeatable: true,
      },
      options,
    ),
  remove: ({ tenant, user, role }, options = {}) => {
    const query = queryString(withRequestId({}, options.requestId));
    const path = `${BASE}/${[tenant, role, user].map(encodeURIComponent).join("/")}${query}`;
    return caller.json({ method: "DELETE", path, repeatable: true }, options);
  },
  list: (filter = {}, options) => caller.json({ method: "GET", path: `${BASE}${queryString(filter)}` }, options),
});

export const jobKeyCalls = (caller: Caller): JobKeyCalls => ({
  rotate: ({ keep_seconds: keep, ...options } = {}) => {
    const body = withRequestId(keep === undefined ? {} : { keep_seconds: keep }, options.requestId);
    return caller.json({ method: "POST", path: "/api/v1/admin/job-key/rotate", body, repeatable: true }, options);
  },
});

export const auditCalls = (caller: Caller): AuditCalls => ({
  query: (query = {}, options) => caller.json({ method: "GET", path: `/api/v1/audit${queryString(query)}` }, options),
  verify: (options) => caller.json({ method: "GET", path: "/api/v1/audit/verify" }, options),
});
