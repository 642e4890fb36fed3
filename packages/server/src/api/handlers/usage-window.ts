// The days of a usage query: the last N, or a range. Days are UTC,
// as in the ledger, and whole: an instant stands for its day.

import { beginOf, type Day, dayOf, firstKeptDay, type Instant, instant, LEDGER_DAYS, type Window } from "@lattice/core";
import { parseTimestamp, timestampToMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";

interface Asked {
  readonly days?: number | undefined;
  readonly since: string;
  readonly until: string;
}

export function windowOf(asked: Asked, now: Instant, presetDays: number): Window {
  const { days, since, until } = asked;
  const today = dayOf(now);
  if (days !== undefined && (since !== "" || until !== "")) {
    throw invalid("days", "is given beside since or until", "Give either the number of days or the days themselves.");
  }
  if (days !== undefined && (days < 1 || days > LEDGER_DAYS)) {
    throw invalid("days", `is ${days}; from 1 to ${LEDGER_DAYS}`, `The ledger goes back ${LEDGER_DAYS} days.`);
  }
  const to = until === "" ? today : Math.min(today, parseDay("until", until));
  const preset = Math.max(firstKeptDay(now), to - (days ?? presetDays) + 1);
  const from = since === "" ? preset : parseDay("since", since);
  const oldest = firstKeptDay(now);
  if (from < oldest) {
    throw invalid("since", `is before ${formatDay(oldest)}`, `The ledger goes back ${LEDGER_DAYS} days.`);
  }
  if (from > to) throw invalid(since === "" ? "until" : "since", `no day from ${formatDay(from)} to ${formatDay(to)}`);
  return { from, to, now };
}

export const formatDay = (day: Day): string => new Date(beginOf(day)).toISOString().slice(0, 10);

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function parseDay(field: string, text: string): Day {
  const at = parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text);
  if (at !== null) return dayOf(instant(timestampToMs(at)));
  throw invalid(field, "is not a day", "Write it as 2026-03-01, or as an instant such as 2026-03-01T12:00:00Z.");
}
