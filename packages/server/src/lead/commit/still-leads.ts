// Whether this server leads yet, asked of the log itself. One that was held up, or cannot reach the log, hears late that another leads;
// the log refuses what it writes, but whatever else it tells would hear an old state. Who is to tell others asks here just before.

import { type Duration, duration, type LogIndex, type Term } from "@lattice/core";
import { type Clock, steadyNow } from "../../base/clock.ts";
import type { ChainHead } from "../../state/replica/replica.ts";

export interface Standing {
  readonly log: { head(): Promise<LogIndex> };
  readonly replica: { head(): ChainHead; waitFor(index: LogIndex, signal: AbortSignal): Promise<void> };
  readonly term: Term;
  readonly clock: Clock;
}

/** An answer that is older, because the process was held up while it came, says nothing of now. */
const OLDEST_ANSWER: Duration = duration(1_000);

/** False too when it cannot be known at the moment. */
export async function stillLeads({ log, replica, term, clock }: Standing, signal: AbortSignal): Promise<boolean> {
  const asked = steadyNow(clock);
  try {
    await replica.waitFor(await log.head(), signal);
  } catch {
    return false;
  }
  // Another that leads but has written nothing has changed nothing either.
  return !signal.aborted && replica.head().term <= term && steadyNow(clock) - asked <= OLDEST_ANSWER;
}
