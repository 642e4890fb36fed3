// Checks of an append that every engine shares, cheapest first. Nothing is written before all of them pass.

import { type Leadership, LogError, type StoredEntry } from "./replicated-log.ts";

interface AppendChecks {
  readonly closed: boolean;
  readonly leads: boolean;
  readonly lastIndex: number;
  readonly maxEntryBytes: number;
}

export function checkAppend(leadership: Leadership, entries: readonly StoredEntry[], checks: AppendChecks): void {
  if (checks.closed) throw new LogError("closed", "the log is closed");
  if (!checks.leads) throw new LogError("lost_leadership", `the leadership of term ${leadership.term} is over`);
  let next = checks.lastIndex + 1;
  for (const entry of entries) {
    if (entry.index !== next) throw new LogError("wrong_index", `entry ${entry.index} where ${next} is next`);
    if (entry.term !== leadership.term) {
      throw new LogError(
        "lost_leadership",
        `entry of term ${entry.term} under a leadership of term ${leadership.term}`,
      );
    }
    if (entry.bytes.byteLength > checks.maxEntryBytes) {
      throw new LogError("too_large", `${entry.bytes.byteLength} bytes, at most ${checks.maxEntryBytes}`);
    }
    next += 1;
  }
}
