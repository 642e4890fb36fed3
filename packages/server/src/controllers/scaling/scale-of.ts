// The command that changes a service's size by one node, as whoever decides has seen it.

import type { Allocation, RunningPhase, ScaleCommand } from "@lattice/core";

export const scaleOf = (
  { id, attempt }: Allocation,
  { nodes }: RunningPhase,
  change: Pick<ScaleCommand, "change" | "node" | "reason" | "detail">,
): ScaleCommand => ({ kind: "allocation.scale", allocation: id, attempt, size: nodes.length, ...change });
