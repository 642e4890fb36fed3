// The readers' view of the ledger. Every figure includes work that is still running, up to the window's `now`, so that
// no tenant looks idle while its largest job runs.

import type { Amount } from "../../base/amount.ts";
import type { TenantId, UserName } from "../../base/ids.ts";
import type { CurrentUse } from "./current-use.ts";
import type { Day, DayAmount, Window } from "./day.ts";

/** The account: without a user the whole tenant, without a tenant the whole cluster. */
export interface Holder {
  readonly tenant?: TenantId;
  readonly user?: UserName;
}

export interface RunningNow extends CurrentUse {
  readonly allocations: number;
}

export interface Ledger {
  /** Returns the use in the window, in time proportional to its days. */
  spent(holder: Holder, window: Window): Amount;
  /** The same, one figure per day. */
  days(holder: Holder, window: Window): readonly DayAmount[];
  /** Returns the nodes and GPUs of the holder's running work; staging is not included. */
  running(holder: Holder): RunningNow;
  /** Tenants with anything in the ledger, in order of id. */
  tenants(): readonly TenantId[];
  /** Users of a tenant with anything in the ledger, in order of name. */
  users(tenant: TenantId): readonly UserName[];
  /** Users of a tenant that have buckets. */
  userCount(tenant: TenantId): number;
  hasBuckets(tenant: TenantId, user: UserName): boolean;
  /** The oldest day of all buckets; infinite without buckets. */
  readonly oldestDay: Day;
}
