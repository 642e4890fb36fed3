// Finds checkpoints that have exceeded their time. Agents enforce it, extensions included; this catches checkpoints whose
// agents do not report. Time is measured from when this leader first saw the checkpoint, on the monotonic clock; a new
// leader starts the measurement again. Pure.

import { between, type Duration, duration, type ExpireCheckpointCommand, type Instant, type View } from "@lattice/core";

/** By "allocation.attempt.number". */
export type SeenCheckpoints = ReadonlyMap<string, Instant>;

interface OverdueInputs {
  readonly now: Instant;
  readonly seen: SeenCheckpoints;
  readonly margin: Duration;
}

export function decideOverdueCheckpoints(
  view: View,
  { now, seen, margin }: OverdueInputs,
): { readonly expired: readonly ExpireCheckpointCommand[]; readonly seen: SeenCheckpoints } {
  const expired: ExpireCheckpointCommand[] = [];
  const still = new Map<string, Instant>();
  for (const { id, attempt, phase, spec } of view.placed()) {
    if (phase.kind !== "checkpointing" || spec.checkpoint === undefined) continue;
    const { n } = phase.request;
    const key = `${id}.${attempt}.${n}`;
    const since = seen.get(key) ?? now;
    still.set(key, since);
    const { timeout, maxDeferral } = spec.checkpoint;
    const limit = duration(timeout * 1.5 + maxDeferral + margin);
    if (between(since, now) >= limit) expired.push({ kind: "checkpoint.expire", allocation: id, attempt, n });
  }
  return { expired, seen: still };
}
