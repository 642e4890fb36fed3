// The leadership that this handle holds, if it does. It is over when its lease cannot be relied on,
// when the watch shows that the election key is gone or another's, when it resigns, or when the log is
// closed; whichever comes first. Appends under it are fenced in etcd all the same.

import type { LogIndex, Term } from "@lattice/core";
import { type Leadership, LogError } from "../replicated-log.ts";
import type { Won } from "./campaign.ts";
import type { Facts } from "./facts.ts";

export interface Reign {
  readonly leadership: Leadership;
  readonly createRevision: bigint;
  /** Whether it can still be relied on, by our own clock. */
  holds(): boolean;
  /** Over, here; the lease is given back too. */
  end(): Promise<void>;
}

export function beginReign(won: Won, facts: Facts): Reign {
  const over = new AbortController();
  const stop = (): void => {
    if (over.signal.aborted) return;
    over.abort(new LogError("lost_leadership", `the leadership of term ${won.term} is over`));
  };
  const end = async (): Promise<void> => {
    stop();
    await won.lease.end();
  };
  won.lease.over.addEventListener("abort", stop, { once: true });
  void watchFacts(won, facts, over.signal).then(() => void end());
  if (won.lease.over.aborted) stop();
  return {
    leadership: { term: won.term as Term, lost: over.signal, endsAt: won.lastIndex as LogIndex, resign: end },
    createRevision: won.createRevision,
    holds: () => won.lease.holds() && !over.signal.aborted,
    end,
  };
}

/** Ends when somebody took the election from us, or with the reign. */
async function watchFacts(won: Won, facts: Facts, over: AbortSignal): Promise<void> {
  while (!over.aborted && facts.leader()?.createRevision === won.createRevision) await facts.bell.wait(over);
}
