// Whether a node is kept for somebody who waits: others were stopped for it, or its start there is reserved. Pure.

import type { NodeId, View } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";

export function isPromised(view: View, cycles: Iterable<Pick<CycleResult, "reservations">>, node: NodeId): boolean {
  for (const { phase } of view.awaiting())
    if (phase.kind === "pending" && phase.awaits?.nodes.includes(node) === true) return true;
  for (const { reservations } of cycles) if (reservations.some(({ nodes }) => nodes.includes(node))) return true;
  return false;
}
