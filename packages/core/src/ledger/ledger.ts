// What readers see of the ledger. Every figure includes work that is still running, up to the window's
// `now`, so that nobody looks idle while its largest job runs.

import type { TenantId, UserName } from "../ids.ts";
import type { DayAmount } from "./account.ts";
import type { Amount } from "./amount.ts";
import type { Day, Window } from "./day.ts";
import type { Held } from "./held.ts";

/** Whose account. No user: the whole tenant. No tenant: the whole cluster. */
export interface Holder {
  readonly tenant?: TenantId;
  readonly user?: UserName;
}

export interface RunningNow extends Held {
  readonly allocations: number;
}

export interface Ledger {
  /** What was used in the window. Costs at most its days. */
  spent(holder: Holder, window: Window): Amount;
  /** The same, one figure per day. */
  days(holder: Holder, window: Window): readonly DayAmount[];
  /** What the holder's running work holds; staging not included. */
  running(holder: Holder): RunningNow;
  /** Tenants with anything in the ledger, in order of id. */
  tenants(): readonly TenantId[];
  /** Users of a tenant with anything in the ledger, in order of name. */
  users(tenant: TenantId): readonly UserName[];
  /** Users of a tenant that have buckets. */
  userCount(tenant: TenantId): number;
  hasBuckets(tenant: TenantId, user: UserName): boolean;
  /** Of all buckets; infinite when there is none. */
  readonly oldestDay: Day;
}
