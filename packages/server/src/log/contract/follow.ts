// The reading loop that every engine shares: stored entries first, then new ones, until aborted. The engine provides
// the bounds of its log and fetches entries; this file keeps the order without gaps, and waits.

import { type LogIndex, logIndex } from "@lattice/core";
import type { Notifier } from "./notifier.ts";
import { LogError, type StoredEntry } from "./replicated-log.ts";

export interface Followed {
  readonly changes: Notifier;
  closed(): boolean;
  firstIndex(): number;
  /** Last durable index. */
  lastIndex(): number;
  /** Returns at least one entry, the first at `from`, which is within the log. */
  fetch(from: LogIndex): Promise<readonly StoredEntry[]>;
}

export async function* follow(
  log: Followed,
  from: LogIndex,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEntry[], void, undefined> {
  let next = Math.max(from, 1);
  while (!signal.aborted) {
    if (log.closed()) throw new LogError("closed", "the log is closed");
    if (next < log.firstIndex()) {
      throw new LogError("truncated", `entry ${next} is gone, the log begins at ${log.firstIndex()}`);
    }
    if (next > log.lastIndex()) {
      await log.changes.wait(signal);
      continue;
    }
    const batch = await log.fetch(logIndex(next));
    if (signal.aborted) return;
    yield batch;
    next += batch.length;
  }
}
