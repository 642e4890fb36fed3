// Which backups may go: all are kept for some days, then one of each day, then one of each week, then
// none. Pure. Of a day or a week the newest stays. The newest backup that is whole always stays, however
// old it is: a rule about age must never leave nothing to restore from.

export interface KeptBackup {
  readonly name: string;
  readonly createdAtMs: number;
  /** Its metadata can be read. One that is not whole stands for no day. */
  readonly whole: boolean;
}

export interface BackupRetention {
  /** Ages, from now. */
  readonly allMs: number;
  readonly dailyMs: number;
  readonly weeklyMs: number;
}

const DAY_MS = 86_400_000;
/** The first of January 1970 was a Thursday; weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** Names of those to delete, oldest first. */
export function decideExpired(backups: readonly KeptBackup[], nowMs: number, rule: BackupRetention): readonly string[] {
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

/** What it stands for at its age; null: too old for anything. */
function periodOf({ createdAtMs }: KeptBackup, nowMs: number, rule: BackupRetention): string | null {
  const age = nowMs - createdAtMs;
  if (age <= rule.allMs) return "all";
  if (age <= rule.dailyMs) return `day ${Math.floor(createdAtMs / DAY_MS)}`;
  if (age <= rule.weeklyMs) return `week ${Math.floor((createdAtMs - FIRST_MONDAY_MS) / (7 * DAY_MS))}`;
  return null;
}
