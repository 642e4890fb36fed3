// A reactive service that loses one of several nodes goes on with the rest; whoever decides on its size brings it back
// to its least number. Anything else, and the last node, ends the attempt.

import type { Allocation } from "../allocation/allocation.ts";
import type { PlacedPhase } from "../allocation/phase.ts";
import type { NodeId } from "../ids.ts";
import type { Step } from "../step.ts";
import { giveUp } from "./scale.ts";

export interface Lost {
  readonly node: NodeId;
  readonly reason: "node_failure" | "reclaim";
  readonly detail: string;
  /** Nobody is there to confirm. */
  readonly gone: boolean;
}

/** False: it cannot go on without. */
export function shedNode(step: Step, record: Allocation, phase: PlacedPhase, lost: Lost): boolean {
  if (record.spec.lifecycle.kind !== "reactive" || phase.kind !== "running" || phase.nodes.length < 2) return false;
  const others = phase.progress.some(({ state }, i) => phase.nodes[i] !== lost.node && state === "running");
  if (!others) return false;
  giveUp(step, record, phase, lost);
  return true;
}
