// The backstop for walltimes. Agents enforce them; this catches an attempt whose agent has not reported its end in time.
// Run time is measured from when this leader first saw the attempt, on the monotonic clock: a wall-clock jump makes no
// attempt overdue. A new leader starts the measurement again.

import { between, type Duration, type ExpireCommand, type Instant, type View } from "@lattice/core";

interface WalltimeInputs {
  /** Monotonic, as all instants here. */
  readonly now: Instant;
  /** As returned by the previous run. */
  readonly seen: FirstSeen;
  readonly margin: Duration;
}

/** When each running attempt was first seen, by "allocation.attempt". */
export type FirstSeen = ReadonlyMap<string, Instant>;

interface WalltimeVerdict {
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
