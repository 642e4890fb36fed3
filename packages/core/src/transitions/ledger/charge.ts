// Charges the ledger. An attempt is charged when it ends, from its start to its end on all of its nodes, split by day;
// staging and cleanup are not charged. All inputs come from committed state and the time of the entry. The record keeps
// the same amounts, so that accounting and the ledger agree.

import { type Amount, amountOf, NO_USE, plus } from "../../base/amount.ts";
import type { Instant } from "../../base/ids.ts";
import { OTHER_USERS } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { type Bucket, bucketKey, MAX_LEDGER_USERS } from "../../model/ledger/bucket.ts";
import { chargedSince, currentUse } from "../../model/ledger/current-use.ts";
import { beginOf, type Day, dayOf, firstKeptDay } from "../../model/ledger/day.ts";
import type { State } from "../../state/state.ts";

/** Returns what the record has been charged in all. */
export function chargeAttempt(state: State, record: Allocation, end: Instant): Amount {
  const start = chargedSince(record);
  if (start === null) return record.charged;
  const held = currentUse(record, (node) => state.node(node)?.capabilities.gpuCount);
  const firstKept = firstKeptDay(end);
  const last = dayOf(end);
  let { charged } = record;
  for (let day = dayOf(start); day <= last; day += 1) {
    const ms = Math.min(end, beginOf(day + 1)) - Math.max(start, beginOf(day));
    if (ms <= 0) continue;
    const amount = amountOf(held, ms);
    charged = plus(charged, amount);
    if (day >= firstKept) add(state, record, day, amount);
  }
  return charged;
}

function add(state: State, record: Allocation, day: Day, amount: Amount): void {
  const { tenant } = record.spec;
  const user = hasRoom(state, record) ? record.user : OTHER_USERS;
  const known: Bucket | undefined = state.tables.ledger.get(bucketKey({ day, tenant, user }));
  state.putBucket({ tenant, user, day, ...plus(known ?? NO_USE, amount) });
}

function hasRoom(state: State, { spec, user }: Allocation): boolean {
  const { ledger } = state;
  return ledger.hasBuckets(spec.tenant, user) || ledger.userCount(spec.tenant) < MAX_LEDGER_USERS;
}

/** Called at the end of every entry; removes buckets only when a day has left the window. */
export function dropOldBuckets(state: State, at: Instant): void {
  const first = firstKeptDay(at);
  if (state.ledger.oldestDay >= first) return;
  for (const bucket of [...state.tables.ledger.values()]) {
    if (bucket.day < first) state.dropBucket(bucket);
  }
}
