// Decides which elements to recall from behind others: their turn has not come for too long, or their node is to get no
// more work. The wait is measured from when this leader first saw the claim, on the monotonic clock.

import { between, type Claim, type Duration, type Instant, type NodeId, type View } from "@lattice/core";

interface WaitingClaim {
  readonly node: NodeId;
  readonly claim: Claim;
}

interface TurnsInputs {
  /** Monotonic, as all instants here. */
  readonly now: Instant;
  /** As returned by the previous run. */
  readonly seen: FirstBehind;
  readonly patience: Duration;
}

/** When each claim that waits behind others was first seen. */
export type FirstBehind = ReadonlyMap<string, Instant>;

interface TurnsVerdict {
  readonly recalls: readonly WaitingClaim[];
  readonly seen: FirstBehind;
}

export function decideRecalls(view: View, { now, seen, patience }: TurnsInputs): TurnsVerdict {
  const recalls: WaitingClaim[] = [];
  const still = new Map<string, Instant>();
  for (const { id: node, state, claims } of view.nodes()) {
    // Mostly one claim, or none.
    if (claims.length < 2) continue;
    for (const claim of claims) {
      if (claim.behind !== true || claim.releasing) continue;
      const key = `${node} ${claim.allocation}.${claim.attempt}`;
      const since = seen.get(key) ?? now;
      still.set(key, since);
      if (state.kind !== "ready" || between(since, now) >= patience) recalls.push({ node, claim });
    }
  }
  return { recalls, seen: still };
}
