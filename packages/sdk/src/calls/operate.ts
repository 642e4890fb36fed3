// Calls of those who run a cluster: accounts, settings, the scheduler's figures, and the services that work exposes.

import type { Caller, CallOptions } from "../call.ts";
import type {
  AccountingPage,
  AccountingQuery,
  AccountingRecord,
  SchedulerStatus,
  ServiceEndpoint,
  ServiceSummary,
  Setting,
} from "../operate-types.ts";
import { eachItem } from "../pages.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type { Paging } from "../types.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface AccountingCalls {
  list(query?: AccountingQuery & Paging, options?: CallOptions): Promise<AccountingPage>;
  listAll(query?: AccountingQuery, options?: CallOptions): AsyncGenerator<AccountingRecord>;
}

export interface ConfigCalls {
  /** A setting, or all that begin with this; all of them otherwise. */
  get(key?: string, options?: CallOptions): Promise<{ readonly settings?: readonly Setting[] }>;
  set(key: string, value: string, options?: ChangeOptions): Promise<{ readonly settings?: readonly Setting[] }>;
  /** Back to what each server's file says. */
  reset(key: string, options?: ChangeOptions): Promise<{ readonly settings?: readonly Setting[] }>;
}

export interface SchedulerCalls {
  status(vcluster?: string, options?: CallOptions): Promise<SchedulerStatus>;
}

export interface ServiceCalls {
  list(
    options?: CallOptions & { readonly tenant?: string },
  ): Promise<{ readonly services?: readonly ServiceSummary[] }>;
  get(
    name: string,
    options?: CallOptions & { readonly tenant?: string },
  ): Promise<{ readonly name: string; readonly endpoints?: readonly ServiceEndpoint[] }>;
}

const PAGE_SIZE = 500;

export function accountingCalls(caller: Caller): AccountingCalls {
  const list: AccountingCalls["list"] = (query = {}, options) =>
    caller.json({ method: "GET", path: `/api/v1/accounting${queryString(query)}` }, options);
  return {
    list,
    listAll: (query = {}, options = {}) =>
      eachItem(
        (paging) => list({ ...query, ...paging }, options),
        (page) => page.records ?? [],
        PAGE_SIZE,
      ),
  };
}

export function configCalls(caller: Caller): ConfigCalls {
  const put = (key: string, body: object, options: ChangeOptions = {}) =>
    caller.json<{ readonly settings?: readonly Setting[] }>(
      {
        method: "PUT",
        path: `/api/v1/admin/config/${encodeURIComponent(key)}`,
        body: withRequestId(body, options.requestId),
        repeatable: true,
      },
      options,
    );
  return {
    get: (key, options) => caller.json({ method: "GET", path: `/api/v1/admin/config${queryString({ key })}` }, options),
    set: (key, value, options) => put(key, { value }, options),
    reset: (key, options) => put(key, { reset: true }, options),
  };
}

export const schedulerCalls = (caller: Caller): SchedulerCalls => ({
  status: (vcluster, options) =>
    caller.json({ method: "GET", path: `/api/v1/admin/scheduler${queryString({ vcluster })}` }, options),
});

export const serviceCalls = (caller: Caller): ServiceCalls => ({
  list: ({ tenant, ...options } = {}) =>
    caller.json({ method: "GET", path: `/api/v1/services${queryString({ tenant })}` }, options),
  get: (name, { tenant, ...options } = {}) => {
    const path = `/api/v1/services/${encodeURIComponent(name)}${queryString({ tenant })}`;
    return caller.json({ method: "GET", path }, options);
  },
});
