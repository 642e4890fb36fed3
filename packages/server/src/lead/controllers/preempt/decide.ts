// Turns the preemptions of a cycle into commands: one per starting allocation, with all of its victims, so that a crash
// leaves either all of them stopped or none. Pure.

import type { PreemptCommand } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";

export function decidePreemptions({
  basis,
  preemptions,
}: Pick<CycleResult, "basis" | "preemptions">): PreemptCommand[] {
  return preemptions.map(({ allocation, victims, nodes }) => ({
    kind: "allocation.preempt",
    allocation,
    basis,
    victims: victims.map(({ allocation: id, attempt, force }) => ({
      allocation: id,
      attempt,
      ...(force === true ? { force } : null),
    })),
    nodes,
  }));
}
