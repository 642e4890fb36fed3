// Chooses the node that a service gains or loses. A node to add is free, fits and is not reserved; nodes of the
// service's own vCluster come before borrowed ones, then nodes near its present ones. Pure.

import {
  type Allocation,
  attemptAt,
  borrowRefusal,
  fits,
  isFree,
  lendableNodes,
  type Node,
  type NodeId,
  placementConstraints,
  type RunningPhase,
  type ScaleCommand,
  type View,
} from "@lattice/core";

export interface CandidateInputs {
  readonly view: View;
  readonly reachable: (node: NodeId) => boolean;
  /** Returns whether a pending allocation needs the node. */
  readonly reserved: (node: NodeId) => boolean;
}

/** Returns `null` when no node fits. */
export function nodeToAdd({ view, reachable, reserved }: CandidateInputs, record: Allocation): NodeId | null {
  const wanted = placementConstraints(record);
  const { phase, spec } = record;
  const own = "nodes" in phase ? phase.nodes : [];
  const groups = new Set(own.map((id) => view.node(id)?.group));
  const mayBorrow = own.filter((id) => !isBorrowed(record, view.node(id))).length >= spec.resources.minNodes;
  let best: { readonly id: NodeId; readonly rank: number } | null = null;
  for (const node of view.nodes()) {
    if (!isFree(node) || reserved(node.id) || !reachable(node.id)) continue;
    if (!fits(wanted, node.id, node.capabilities)) continue;
    const borrowed = isBorrowed(record, node);
    if (borrowed && !(mayBorrow && isLent(view, record, node))) continue;
    const rank = (borrowed ? 2 : 0) + (groups.has(node.group) ? 0 : 1);
    // Nodes come in order of id, so that ties are resolved the same way every time.
    if (best === null || rank < best.rank) best = { id: node.id, rank };
  }
  return best?.id ?? null;
}

/** Returns a borrowed node if there is one, else the newest; with `through`, only nodes with attempts up to it. */
export function nodeToRemove(view: View, record: Allocation, phase: RunningPhase, through?: number): NodeId | null {
  let best: { readonly id: NodeId; readonly rank: number } | null = null;
  for (const [i, id] of phase.nodes.entries()) {
    const attempt = attemptAt(record, phase, i);
    if (through !== undefined && attempt > through) continue;
    const rank = (isBorrowed(record, view.node(id)) ? 1e9 : 0) + attempt;
    if (best === null || rank >= best.rank) best = { id, rank };
  }
  return best?.id ?? null;
}

const isBorrowed = ({ spec }: Allocation, node: Node | undefined): boolean =>
  node !== undefined && node.homeVCluster !== null && node.homeVCluster !== spec.vcluster;

const isLent = (view: View, { spec }: Allocation, { homeVCluster }: Node): boolean =>
  homeVCluster !== null && borrowRefusal(view, spec, homeVCluster) === null && lendableNodes(view, homeVCluster) > 0;

export const scaleOf = (
  { id, attempt }: Allocation,
  { nodes }: RunningPhase,
  change: Pick<ScaleCommand, "change" | "node" | "reason" | "detail">,
): ScaleCommand => ({ kind: "allocation.scale", allocation: id, attempt, size: nodes.length, ...change });
