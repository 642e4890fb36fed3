// Decides which services have finished their backoff. Pure.

import type { EndBackoffCommand, Instant, View } from "@lattice/core";

export function decideRestarts(view: View, now: Instant): readonly EndBackoffCommand[] {
  const due: EndBackoffCommand[] = [];
  for (const { id, phase } of view.held()) {
    const until = phase.kind === "pending" ? phase.backoffUntil : undefined;
    if (until !== undefined && now >= until) due.push({ kind: "allocation.end_backoff", allocation: id });
  }
  return due;
}
