// The victims of a pending allocation, as far as the caller may see them: the allocations that still claim one of the
// nodes preempted for it and are stopping or saving a checkpoint.

import type { Allocation, AllocationId, Claim, View } from "@lattice/core";
import type { PendingReason } from "@lattice/scheduler";
import type { Call } from "../call/call.ts";
import { type Shown, shownTo } from "./visible.ts";

interface Victim {
  readonly allocation: AllocationId;
  readonly nodes: number;
  readonly stage: "checkpointing" | "stopping";
}

/** Ordered by the preempted nodes; empty when the last victim has left them. */
function victimsOf(view: View, { phase }: Allocation): readonly Victim[] {
  if (phase.kind !== "pending" || phase.preemptedNodes === undefined) return [];
  const found = new Map<AllocationId, Victim>();
  for (const name of phase.preemptedNodes.nodes) {
    for (const claim of view.node(name)?.claims ?? []) {
      const stage = stageOf(view, claim);
      if (stage === null) continue;
      const { allocation } = claim;
      found.set(allocation, { allocation, stage, nodes: (found.get(allocation)?.nodes ?? 0) + 1 });
    }
  }
  return [...found.values()];
}

/** Returns `null` when the allocation keeps its nodes. */
function stageOf(view: View, { allocation, releasing }: Claim): Victim["stage"] | null {
  if (releasing) return "stopping";
  const phase = view.allocation(allocation)?.phase;
  return phase?.kind === "checkpointing" && phase.request.next === "suspend" ? "checkpointing" : null;
}

type VisibleVictim = Shown & Pick<Victim, "nodes" | "stage">;

export const visibleVictims = (call: Call, record: Allocation): readonly VisibleVictim[] =>
  victimsOf(call.plane.view(), record).map(({ allocation, nodes, stage }) => ({
    ...shownTo(call, allocation),
    nodes,
    stage,
  }));

/** Replaces the reason of the cycle, which does not name the victims. */
export function withVictims(
  causes: readonly PendingReason[],
  victims: readonly VisibleVictim[],
): readonly PendingReason[] {
  if (victims.length === 0) return causes;
  const count = victims.reduce((sum, { nodes }) => sum + nodes, 0);
  const nodes = count === 1 ? "1 node" : `${count} nodes`;
  const text = `Preemption is freeing ${nodes}: ${victims.map(victimText).join("; ")}.`;
  return [{ code: "preempting", text }, ...causes.filter(({ code }) => code !== "preempting")];
}

const victimText = ({ allocationId, stage }: VisibleVictim): string =>
  `${allocationId === "" ? "work of another user" : `allocation ${allocationId}`} ${STAGE_TEXT[stage]}`;

const STAGE_TEXT = {
  checkpointing: "is saving a checkpoint",
  stopping: "is stopping",
} as const satisfies Record<Victim["stage"], string>;
