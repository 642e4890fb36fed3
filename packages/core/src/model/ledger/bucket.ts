// One day of one user's usage in one tenant. Running work is not included: it is added when its attempt ends.

import type { Amount } from "../../base/amount.ts";
import type { TenantId, UserName } from "../../base/ids.ts";
import type { Day } from "./day.ts";

export interface Bucket extends Amount {
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly day: Day;
}

export type BucketKey = string;

/** Tenant and user names contain no space, so the key is unambiguous. */
export const bucketKey = ({ day, tenant, user }: Pick<Bucket, "day" | "tenant" | "user">): BucketKey =>
  `${day} ${tenant} ${user}`;

/** Users with their own buckets per tenant: at 90 days each, about 100 MB when all work daily. */
export const MAX_LEDGER_USERS = 10_000;
