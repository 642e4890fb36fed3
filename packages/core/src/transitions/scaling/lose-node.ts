// A reactive service that loses one of several nodes continues with the rest; the autoscaler restores its minimum. For
// any other work, and for the last node, the loss ends the attempt.

import type { NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { PlacedPhase } from "../../model/allocation/phase.ts";
import type { Step } from "../step.ts";
import { removeNode } from "./resize.ts";

interface NodeLoss {
  readonly node: NodeId;
  readonly reason: "node_failure" | "reclaim";
  readonly detail: string;
  /** No agent is left to confirm the end. */
  readonly isLost: boolean;
}

/** Returns `false` when the allocation cannot continue without the node. */
export function loseNode(step: Step, record: Allocation, phase: PlacedPhase, lost: NodeLoss): boolean {
  if (record.spec.lifecycle.kind !== "reactive" || phase.kind !== "running" || phase.nodes.length < 2) return false;
  const others = phase.progress.some(({ state }, i) => phase.nodes[i] !== lost.node && state === "running");
  if (!others) return false;
  removeNode(step, record, phase, lost);
  return true;
}
