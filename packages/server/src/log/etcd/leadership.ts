// The leadership of this handle. It ends when its lease is no longer certain, when the watch shows that the election
// key is gone or belongs to another server, when it resigns, or when the log closes. etcd fences appends in any case.

import { logIndex, term } from "@lattice/core";
import { type Leadership, LogError } from "../contract/replicated-log.ts";
import type { ElectionResult } from "./campaign.ts";
import type { LogMetadata } from "./metadata.ts";

export interface EtcdLeadership {
  readonly leadership: Leadership;
  readonly createRevision: bigint;
  /** Returns whether it is still certain, by the local clock. */
  holds(): boolean;
  /** Ends the leadership here and revokes the lease. */
  end(): Promise<void>;
}

export function takeLeadership(won: ElectionResult, metadata: LogMetadata): EtcdLeadership {
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
  void watchFacts(won, metadata, over.signal).then(() => void end());
  if (won.lease.over.aborted) stop();
  return {
    leadership: { term: term(won.term), lost: over.signal, endsAt: logIndex(won.lastIndex), resign: end },
    createRevision: won.createRevision,
    holds: () => won.lease.holds() && !over.signal.aborted,
    end,
  };
}

/** Resolves when another server has taken the election, or the leadership is over. */
async function watchFacts(won: ElectionResult, metadata: LogMetadata, over: AbortSignal): Promise<void> {
  while (!over.aborted && metadata.leader()?.createRevision === won.createRevision) await metadata.changes.wait(over);
}
