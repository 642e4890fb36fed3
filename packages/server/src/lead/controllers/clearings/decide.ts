// Chooses the agent that removes the checkpoints of a finished allocation: first the nodes where it ran, then any other,
// one at a time, until one accepts. No agent is asked while a process of the allocation may still write. Pure.

import {
  type AllocationId,
  type CheckpointRemoval,
  type Duration,
  duration,
  type NodeId,
  type View,
} from "@lattice/core";

export interface ClearingTries {
  readonly count: number;
  /** Not before. */
  readonly nextMs: number;
}

export interface ClearingInputs {
  readonly nowMs: number;
  /** After the end; 0: checkpoints are never removed. */
  readonly retention: Duration;
  readonly connected: (node: NodeId) => boolean;
  readonly tries: ReadonlyMap<AllocationId, ClearingTries>;
}

export interface ClearingVerdict {
  readonly tell: readonly { readonly node: NodeId; readonly clearing: CheckpointRemoval; readonly after: Duration }[];
  /** Clearings that end without removal: the checkpoints are kept, or no node reached them for too long. */
  readonly drop: readonly { readonly allocation: AllocationId; readonly why: "kept" | "unreachable" }[];
}

/** In one turn. */
const MOST_AT_ONCE = 64;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;
/** After the retention: by then the nodes with access to the storage are gone for good. */
const GIVE_UP_MS = 30 * 86_400_000;

export function decideClearings(view: View, inputs: ClearingInputs): ClearingVerdict {
  const { nowMs, retention, tries } = inputs;
  const tell: { node: NodeId; clearing: CheckpointRemoval; after: Duration }[] = [];
  const drop: { allocation: AllocationId; why: "kept" | "unreachable" }[] = [];
  for (const clearing of view.clearings()) {
    const { allocation, endedAt } = clearing;
    const left = endedAt + retention - nowMs;
    if (retention === 0) drop.push({ allocation, why: "kept" });
    else if (left < -GIVE_UP_MS) drop.push({ allocation, why: "unreachable" });
    else if (tell.length < MOST_AT_ONCE && (tries.get(allocation)?.nextMs ?? 0) <= nowMs && !isHeld(view, allocation)) {
      const node = candidate(view, clearing, inputs);
      if (node !== null) tell.push({ node, clearing, after: duration(Math.max(0, left)) });
    }
  }
  return { tell, drop };
}

export function nextClearingTry(before: ClearingTries | undefined, nowMs: number): ClearingTries {
  const count = (before?.count ?? 0) + 1;
  return { count, nextMs: nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1)) };
}

function isHeld(view: View, id: AllocationId): boolean {
  const phase = view.allocation(id)?.phase;
  const nodes = phase !== undefined && "nodes" in phase ? phase.nodes : [];
  return nodes.some((node) => view.node(node)?.claims.some(({ allocation }) => allocation === id));
}

function candidate(view: View, { allocation, nodes }: CheckpointRemoval, inputs: ClearingInputs): NodeId | null {
  const count = inputs.tries.get(allocation)?.count ?? 0;
  const own = nodes.filter(inputs.connected);
  if (count < own.length) return own[count] ?? null;
  const others = Array.from(view.nodes(), ({ id }) => id).filter(inputs.connected);
  return others[(count - own.length) % others.length] ?? null;
}
