// Builds the command that changes the size of a service by one node.

import type { Allocation, RunningPhase, ScaleCommand } from "@lattice/core";

export const scaleOf = (
  { id, attempt }: Allocation,
  { nodes }: RunningPhase,
  change: Pick<ScaleCommand, "change" | "node" | "reason" | "detail">,
): ScaleCommand => ({ kind: "allocation.scale", allocation: id, attempt, size: nodes.length, ...change });
