// Chooses the agent that removes the checkpoints of a finished allocation: first the nodes where it ran, then any other,
// one at a time, until one accepts. No order is sent while a process of the allocation may still write. Pure.

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
  /** Earliest time of the next attempt. */
  readonly nextMs: number;
}

interface ClearingInputs {
  readonly nowMs: number;
  /** Retention after the end of the allocation; 0 keeps checkpoints forever. */
  readonly retention: Duration;
  readonly connected: (node: NodeId) => boolean;
  readonly tries: ReadonlyMap<AllocationId, ClearingTries>;
}

interface ClearingVerdict {
  readonly requests: readonly {
    readonly node: NodeId;
    readonly clearing: CheckpointRemoval;
    readonly after: Duration;
  }[];
  /** Clearings that end without removal: the checkpoints are kept, or no node reached them for too long. */
  readonly drop: readonly { readonly allocation: AllocationId; readonly reason: "kept" | "unreachable" }[];
}

/** Clearings requested in one run. */
const MAX_REQUESTS = 64;
const MIN_BACKOFF_MS = 5_000;
const MAX_BACKOFF_MS = 600_000;
/** After the retention: by then the nodes with access to the storage are gone for good. */
const GIVE_UP_MS = 30 * 86_400_000;

export function decideClearings(view: View, inputs: ClearingInputs): ClearingVerdict {
  const { nowMs, retention, tries } = inputs;
  const requests: { node: NodeId; clearing: CheckpointRemoval; after: Duration }[] = [];
  const drop: { allocation: AllocationId; reason: "kept" | "unreachable" }[] = [];
  for (const clearing of view.clearings()) {
    const { allocation, endedAt } = clearing;
    const left = endedAt + retention - nowMs;
    if (retention === 0) drop.push({ allocation, reason: "kept" });
    else if (left < -GIVE_UP_MS) drop.push({ allocation, reason: "unreachable" });
    else if (
      requests.length < MAX_REQUESTS &&
      (tries.get(allocation)?.nextMs ?? 0) <= nowMs &&
      !isHeld(view, allocation)
    ) {
      const node = candidate(view, clearing, inputs);
      if (node !== null) requests.push({ node, clearing, after: duration(Math.max(0, left)) });
    }
  }
  return { requests, drop };
}

export function nextClearingTry(before: ClearingTries | undefined, nowMs: number): ClearingTries {
  const count = (before?.count ?? 0) + 1;
  return { count, nextMs: nowMs + Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (count - 1)) };
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
