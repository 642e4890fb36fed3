// Days and windows of days. A day is counted from 1970 and begins at midnight UTC, independent of the servers' time
// zone.

import type { Amount } from "../../base/amount.ts";
import type { Instant } from "../../base/ids.ts";

/** Days since 1970-01-01, UTC. */
export type Day = number;

export const DAY_MS = 86_400_000;

/** The length of the ledger: today and the 89 days before it. */
export const LEDGER_DAYS = 90;

/** First and last day, both included; the last one up to `now`. */
export interface Window {
  readonly from: Day;
  readonly to: Day;
  readonly now: Instant;
}

export const dayOf = (at: Instant): Day => Math.floor(at / DAY_MS);

export const beginOf = (day: Day): number => day * DAY_MS;

/** Returns the oldest day in the ledger at that time. */
export const firstKeptDay = (at: Instant): Day => dayOf(at) - LEDGER_DAYS + 1;

/** Returns the window of `days` days that ends today. */
export const lastDays = (now: Instant, days: number): Window => {
  const to = dayOf(now);
  return { from: to - Math.min(Math.max(1, days), LEDGER_DAYS) + 1, to, now };
};

export interface DayAmount extends Amount {
  readonly day: Day;
}
