// Decides when the next scheduled backup is due. Pure. A new leader goes by the newest existing backup, so that
// elections neither add nor delay backups. A failure is retried earlier than the interval.

import { type Duration, duration, type Instant } from "@lattice/core";

/** Retry after a failure, unless the interval is shorter. */
const RETRY = duration(60_000);

interface ScheduleInputs {
  readonly now: Instant;
  readonly interval: Duration;
  /** Times of the backups at the destination. */
  readonly taken: readonly Instant[];
  /** Time of the last failed try by this server; `null` after a success. */
  readonly failedAt: Instant | null;
}

/** Returns the time to wait; 0 when a backup is due. */
export function decideBackup({ now, interval, taken, failedAt }: ScheduleInputs): Duration {
  // A backup from the future comes from a wrong clock and is ignored.
  const newest = taken.reduce((latest, at) => (at <= now && at > latest ? at : latest), now - interval);
  const due = Math.max(0, newest + interval - now);
  const retry = failedAt === null || failedAt > now ? 0 : failedAt + Math.min(RETRY, interval) - now;
  return duration(Math.max(due, retry, 0));
}
