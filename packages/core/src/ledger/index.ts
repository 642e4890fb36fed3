// What the rest of the programs may use of the ledger.
export type { DayAmount } from "./account.ts";
export { type Amount, amountOf, MS_PER_HOUR, NOTHING, plus } from "./amount.ts";
export { type Bucket, bucketKey, MAX_LEDGER_USERS, OTHER_USERS } from "./bucket.ts";
export { budgetUse, useOf } from "./budget.ts";
export { beginOf, DAY_MS, type Day, dayOf, firstKeptDay, LEDGER_DAYS, lastDays, type Window } from "./day.ts";
export { type Held, heldBy, startOf } from "./held.ts";
export type { Holder, Ledger, RunningNow } from "./ledger.ts";
export { LEDGER_VERSION } from "./version.ts";
