// When the next scheduled backup is due. Pure. A new leader goes by the newest backup there is, not by
// its own beginning, so that elections neither add backups nor put them off; a failure is tried again
// sooner than the next one would come.

import { type Duration, duration, type Instant } from "@lattice/core";

/** After a failure, unless the interval is shorter. */
const RETRY = duration(60_000);

export interface ScheduleInputs {
  readonly now: Instant;
  readonly interval: Duration;
  /** When those at the destination were taken. */
  readonly taken: readonly Instant[];
  /** When one was last tried from here and failed; null: the last one went well. */
  readonly failedAt: Instant | null;
}

/** How long to wait; 0: take one now. */
export function decideBackup({ now, interval, taken, failedAt }: ScheduleInputs): Duration {
  // One from the future is the work of a wrong clock, and no reason to take none until then.
  const newest = taken.reduce((latest, at) => (at <= now && at > latest ? at : latest), now - interval);
  const due = Math.max(0, newest + interval - now);
  const retry = failedAt === null || failedAt > now ? 0 : failedAt + Math.min(RETRY, interval) - now;
  return duration(Math.max(due, retry, 0));
}
