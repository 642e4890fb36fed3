// Which services have waited long enough to be begun again. Pure.

import type { Instant, ReleaseHeldCommand, View } from "@lattice/core";

export function decideRestarts(view: View, now: Instant): readonly ReleaseHeldCommand[] {
  const due: ReleaseHeldCommand[] = [];
  for (const { id, phase } of view.held()) {
    const until = phase.kind === "pending" ? phase.heldUntil : undefined;
    if (until !== undefined && now >= until) due.push({ kind: "allocation.release", allocation: id });
  }
  return due;
}
