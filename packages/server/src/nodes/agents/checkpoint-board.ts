// Reports of nodes about checkpoints in progress and about checkpoint storage. Kept in the leader's memory only: nodes
// repeat them after a change of leader.

import { type AllocationId, type NodeId, parseAllocationId } from "@lattice/core";
import type { pb } from "@lattice/wire";

export interface Progress {
  readonly n: number;
  readonly percent: number | null;
  readonly estimatedSeconds: number | null;
  readonly deferredSeconds: number;
}

export interface CheckpointBoard {
  recordProgress(node: NodeId, progress: pb.CheckpointProgress): void;
  /** Returns the slowest progress of checkpoint `n` over all nodes that reported; `null` without a report. */
  progress(allocation: AllocationId, n: number): Progress | null;
  /** An empty error means that the node can write. */
  recordStorage(node: NodeId, error: string): void;
  storageError(node: NodeId): string;
  /** Returns the nodes that cannot write, with the reason. */
  storageErrors(): ReadonlyMap<NodeId, string>;
  /** Forgets the progress of an allocation. */
  drop(allocation: AllocationId): void;
  forget(): void;
}

export function createCheckpointBoard(): CheckpointBoard {
  const reported = new Map<AllocationId, Map<NodeId, Progress>>();
  const errors = new Map<NodeId, string>();
  return {
    recordProgress(node, { allocationId, number, percent, estimatedSeconds, deferredSeconds }) {
      const id = parseAllocationId(allocationId);
      if (id === null) return;
      const byNode = reported.get(id) ?? new Map<NodeId, Progress>();
      byNode.set(node, {
        n: number,
        percent: percent ?? null,
        estimatedSeconds: estimatedSeconds ?? null,
        deferredSeconds,
      });
      reported.set(id, byNode);
    },
    progress(allocation, n) {
      const known = [...(reported.get(allocation)?.values() ?? [])].filter((one) => one.n === n);
      return known.length === 0 ? null : known.reduce(slower);
    },
    recordStorage(node, error) {
      if (error === "") errors.delete(node);
      else errors.set(node, error);
    },
    storageError: (node) => errors.get(node) ?? "",
    storageErrors: () => errors,
    drop: (allocation) => reported.delete(allocation),
    forget() {
      reported.clear();
      errors.clear();
    },
  };
}

const slower = (a: Progress, b: Progress): Progress => ({
  n: a.n,
  percent: a.percent === null || b.percent === null ? (a.percent ?? b.percent) : Math.min(a.percent, b.percent),
  estimatedSeconds:
    a.estimatedSeconds === null || b.estimatedSeconds === null
      ? (a.estimatedSeconds ?? b.estimatedSeconds)
      : Math.max(a.estimatedSeconds, b.estimatedSeconds),
  deferredSeconds: Math.max(a.deferredSeconds, b.deferredSeconds),
});
