// Who makes room for an allocation that others are stopped for, as far as the caller may know. Read from the nodes that
// are held for it: the allocations that still hold one of them and are stopping or saving a checkpoint.

import type { Allocation, AllocationId, Claim, View } from "@lattice/core";
import type { PendingReason } from "@lattice/scheduler";
import type { Call } from "../call.ts";
import { type Shown, shownTo } from "./visible.ts";

export interface MakingRoom {
  readonly allocation: AllocationId;
  readonly nodes: number;
  readonly how: "checkpointing" | "stopping";
}

/** In the order of the nodes that are held; none when the last has gone. */
export function makingRoom(view: View, { phase }: Allocation): readonly MakingRoom[] {
  if (phase.kind !== "pending" || phase.preemptedNodes === undefined) return [];
  const found = new Map<AllocationId, MakingRoom>();
  for (const name of phase.preemptedNodes.nodes) {
    for (const claim of view.node(name)?.claims ?? []) {
      const how = howItGoes(view, claim);
      if (how === null) continue;
      const { allocation } = claim;
      found.set(allocation, { allocation, how, nodes: (found.get(allocation)?.nodes ?? 0) + 1 });
    }
  }
  return [...found.values()];
}

/** Returns `null` when the allocation keeps its nodes. */
function howItGoes(view: View, { allocation, releasing }: Claim): MakingRoom["how"] | null {
  if (releasing) return "stopping";
  const phase = view.allocation(allocation)?.phase;
  return phase?.kind === "checkpointing" && phase.request.next === "suspend" ? "checkpointing" : null;
}

export type ShownRoom = Shown & Pick<MakingRoom, "nodes" | "how">;

export const roomShown = (call: Call, record: Allocation): readonly ShownRoom[] =>
  makingRoom(call.plane.view(), record).map(({ allocation, nodes, how }) => ({
    ...shownTo(call, allocation),
    nodes,
    how,
  }));

/** Replaces the reason of the cycle, which names no allocation. */
export function withRoom(causes: readonly PendingReason[], rooms: readonly ShownRoom[]): readonly PendingReason[] {
  if (rooms.length === 0) return causes;
  const count = rooms.reduce((sum, { nodes }) => sum + nodes, 0);
  const nodes = count === 1 ? "1 node" : `${count} nodes`;
  const text = `Room is made for it on ${nodes}: ${rooms.map(roomText).join("; ")}.`;
  return [{ code: "preempting", text }, ...causes.filter(({ code }) => code !== "preempting")];
}

const roomText = ({ allocationId, how }: ShownRoom): string =>
  `${allocationId === "" ? "another's work" : `allocation ${allocationId}`} ${HOW[how]}`;

const HOW = {
  checkpointing: "saves its work and goes",
  stopping: "is being stopped",
} as const satisfies Record<MakingRoom["how"], string>;
