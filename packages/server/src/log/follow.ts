// The reading loop every engine shares: what is there, then what comes, until aborted. The engine
// says where its log begins and ends and fetches entries; this file keeps the order, sees to it
// that there are no gaps, and waits.

import type { LogIndex } from "@lattice/core";
import type { Bell } from "./bell.ts";
import { LogError, type StoredEntry } from "./replicated-log.ts";

export interface Followed {
  readonly bell: Bell;
  closed(): boolean;
  firstIndex(): number;
  /** Last durable index. */
  lastIndex(): number;
  /** At least one entry, the first of them at `from`, which is within the log. */
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
      await log.bell.wait(signal);
      continue;
    }
    const batch = await log.fetch(next as LogIndex);
    if (signal.aborted) return;
    yield batch;
    next += batch.length;
  }
}
