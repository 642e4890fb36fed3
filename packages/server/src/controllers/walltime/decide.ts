// The backstop for walltimes. Agents enforce them; this only catches an attempt whose agent should
// have ended it long ago and has not said so.

import { after, type Duration, type ExpireCommand, type Instant, type View } from "@lattice/core";

export function decideExpired(view: View, now: Instant, margin: Duration): ExpireCommand[] {
  const expired: ExpireCommand[] = [];
  for (const allocation of view.placed()) {
    const { phase, spec } = allocation;
    if (spec.lifecycle.walltime === null || phase.kind === "pending") continue;
    const startedAt = phase.kind === "running" || phase.kind === "checkpointing" ? phase.startedAt : null;
    if (startedAt === null) continue;
    if (now < after(after(startedAt, spec.lifecycle.walltime), margin)) continue;
    expired.push({ kind: "attempt.expire", allocation: allocation.id, attempt: allocation.attempt });
  }
  return expired;
}
