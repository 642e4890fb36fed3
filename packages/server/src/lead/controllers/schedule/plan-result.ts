// Counts the accepted and rejected placements of a plan from the outcome of `apply`.

import type { Outcome, Placement } from "@lattice/core";
import type { PlanResult } from "../../../base/observe/scheduling.ts";

export function planResult(placements: readonly Placement[], outcome: Outcome): PlanResult {
  const rejected = new Map<string, number>();
  let accepted = 0;
  let backfilled = 0;
  for (const [n, placement] of placements.entries()) {
    const refusal = outcome.kind === "rejected" ? outcome.refusal : (outcome.placements?.[n]?.refusal ?? null);
    if (refusal !== null) rejected.set(refusal.code, (rejected.get(refusal.code) ?? 0) + 1);
    else {
      accepted += 1;
      if (placement.backfilled) backfilled += 1;
    }
  }
  return { accepted, backfilled, rejected };
}
