// Decides whether a pending allocation needs a node, by preemption or by a reservation. Pure.

import type { NodeId, View } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";

export function isReserved(view: View, cycles: Iterable<Pick<CycleResult, "reservations">>, node: NodeId): boolean {
  for (const { phase } of view.awaiting())
    if (phase.kind === "pending" && phase.preemptedNodes?.nodes.includes(node) === true) return true;
  for (const { reservations } of cycles) if (reservations.some(({ nodes }) => nodes.includes(node))) return true;
  return false;
}
