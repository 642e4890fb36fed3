// The public names of the ledger.

export { type Amount, amountOf, MS_PER_HOUR, NO_USE as NOTHING, plus } from "./amount.ts";
export { type Bucket, bucketKey, MAX_LEDGER_USERS } from "./bucket.ts";
export { budgetUse, useOf } from "./budget.ts";
export { type CurrentUse as Held, chargedSince as startOf, currentUse as heldBy } from "./current-use.ts";
export type { DayAmount } from "./day.ts";
export { beginOf, DAY_MS, type Day, dayOf, firstKeptDay, LEDGER_DAYS, lastDays, type Window } from "./day.ts";
export type { Holder, Ledger, RunningNow } from "./ledger.ts";
