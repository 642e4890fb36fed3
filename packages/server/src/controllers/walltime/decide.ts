// The backstop for walltimes. Agents enforce them; this only catches an attempt whose agent should
// have ended it long ago and has not said so. How long an attempt has run is measured from when this
// leader first saw it, on the steady clock: a time of day that is set forwards makes nothing overdue. A
// new leader begins to measure anew.

import { between, type Duration, type ExpireCommand, type Instant, type View } from "@lattice/core";

export interface WalltimeInputs {
  /** On the steady clock, as all instants here. */
  readonly now: Instant;
  /** As returned by the turn before. */
  readonly seen: FirstSeen;
  readonly margin: Duration;
}

/** When each running attempt was first seen, by "allocation.attempt". */
export type FirstSeen = ReadonlyMap<string, Instant>;

export interface WalltimeVerdict {
  readonly expired: readonly ExpireCommand[];
  readonly seen: FirstSeen;
}

export function decideExpired(view: View, { now, seen, margin }: WalltimeInputs): WalltimeVerdict {
  const expired: ExpireCommand[] = [];
  const still = new Map<string, Instant>();
  for (const { id, attempt, phase, spec } of view.placed()) {
    const { walltime } = spec.lifecycle;
    if (walltime === null || (phase.kind !== "running" && phase.kind !== "checkpointing")) continue;
    const since = seen.get(`${id}.${attempt}`) ?? now;
    still.set(`${id}.${attempt}`, since);
    if (between(since, now) >= walltime + margin) expired.push({ kind: "attempt.expire", allocation: id, attempt });
  }
  return { expired, seen: still };
}
