// Which network domains have been without members for as long as their grace. Pure.

import { after, type Instant, type ReleaseDomainCommand, type View } from "@lattice/core";

export function decideNetworks(view: View, now: Instant): readonly ReleaseDomainCommand[] {
  const over: ReleaseDomainCommand[] = [];
  for (const { key, emptySince, grace } of view.domains())
    if (emptySince !== null && now >= after(emptySince, grace)) over.push({ kind: "network.release", key });
  return over;
}
