// One day of one user's work in one tenant, as it is kept in the replicated state. Work that is still
// running is in no bucket: it enters when its attempt ends.

import type { TenantId, UserName } from "../../base/ids.ts";
import type { Amount } from "./amount.ts";
import type { Day } from "./day.ts";

export interface Bucket extends Amount {
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly day: Day;
}

export type BucketKey = string;

/** Neither a tenant nor a user name holds a space, so the key is unambiguous. */
export const bucketKey = ({ day, tenant, user }: Pick<Bucket, "day" | "tenant" | "user">): BucketKey =>
  `${day} ${tenant} ${user}`;

/** Users of one tenant with buckets of their own: at 90 days each, about 100 MB where all of them work daily. */
export const MAX_LEDGER_USERS = 10_000;
