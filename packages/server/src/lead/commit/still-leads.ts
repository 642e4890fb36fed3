// Checks with the log that this server still leads. A suspended or disconnected leader learns late that another server
// leads. The log rejects its appends, but an external system would accept its old state, so the leader checks before
// each call to one.

import { type Duration, duration, type LogIndex, type Term } from "@lattice/core";
import { type Clock, monotonicNow } from "../../base/clock.ts";
import type { ChainHead } from "../../state/replica/replica.ts";

interface LeadershipCheck {
  readonly log: { head(): Promise<LogIndex> };
  readonly replica: { head(): ChainHead; waitFor(index: LogIndex, signal: AbortSignal): Promise<void> };
  readonly term: Term;
  readonly clock: Clock;
}

/** The process may be suspended while it waits; an older answer proves nothing about the present. */
const MAX_ANSWER_AGE: Duration = duration(1_000);

/** Returns false when the log cannot be reached as well. */
export async function stillLeads(
  { log, replica, term, clock }: LeadershipCheck,
  signal: AbortSignal,
): Promise<boolean> {
  const askedAt = monotonicNow(clock);
  try {
    await replica.waitFor(await log.head(), signal);
  } catch {
    return false;
  }
  // A new leader without an entry has changed nothing yet.
  return !signal.aborted && replica.head().term <= term && monotonicNow(clock) - askedAt <= MAX_ANSWER_AGE;
}
