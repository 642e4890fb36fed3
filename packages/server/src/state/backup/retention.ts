// Decides which backups expire: all are kept for some days, then the newest of each day, then the newest of each
// week. Pure. The newest complete backup is always kept, whatever its age, so that there is always something to
// restore from.

import type { BackupConfig } from "../../base/config/index.ts";

export interface KeptBackup {
  readonly name: string;
  readonly createdAtMs: number;
  /** Its metadata can be read. An incomplete backup represents no day. */
  readonly whole: boolean;
}

const DAY_MS = 86_400_000;
/** The first of January 1970 was a Thursday; weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** Returns the names to delete, oldest first. */
export function decideExpired(
  backups: readonly KeptBackup[],
  nowMs: number,
  rule: BackupConfig["retention"],
): readonly string[] {
  const newestFirst = [...backups].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.name < b.name ? 1 : -1));
  const last = newestFirst.find((backup) => backup.whole);
  const seen = new Set<string>();
  const expired: string[] = [];
  for (const backup of newestFirst) {
    if (backup === last) {
      const period = periodOf(backup, nowMs, rule);
      if (period !== null && period !== "all") seen.add(period);
      continue;
    }
    if (!stays(backup, periodOf(backup, nowMs, rule), seen)) expired.push(backup.name);
  }
  return expired.reverse();
}

function stays(backup: KeptBackup, period: string | null, seen: Set<string>): boolean {
  if (period === null) return false;
  if (period === "all") return true;
  if (!backup.whole || seen.has(period)) return false;
  seen.add(period);
  return true;
}

/** Returns the period that a backup of this age represents; `null` when it is too old. */
function periodOf({ createdAtMs }: KeptBackup, nowMs: number, rule: BackupConfig["retention"]): string | null {
  const age = nowMs - createdAtMs;
  if (age <= rule.all) return "all";
  if (age <= rule.daily) return `day ${Math.floor(createdAtMs / DAY_MS)}`;
  if (age <= rule.weekly) return `week ${Math.floor((createdAtMs - FIRST_MONDAY_MS) / (7 * DAY_MS))}`;
  return null;
}
