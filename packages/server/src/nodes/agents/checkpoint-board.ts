// What nodes say of checkpoints that are being taken, and of the storage they go to. In the leader's memory
// alone: it is shown and weighed, and nothing is lost with it.

import type { AllocationId, NodeId } from "@lattice/core";
import type { pb } from "@lattice/wire";

export interface Progress {
  readonly n: number;
  readonly percent: number | null;
  readonly estimatedSeconds: number | null;
  readonly deferredSeconds: number;
}

export interface CheckpointBoard {
  told(node: NodeId, progress: pb.CheckpointProgress): void;
  /** Of the checkpoint with this number: the least far, over all nodes that have said anything; null: none has. */
  progress(allocation: AllocationId, n: number): Progress | null;
  /** Empty: it can write. */
  storage(node: NodeId, error: string): void;
  storageError(node: NodeId): string;
  /** Nodes that cannot write, and why. */
  away(): ReadonlyMap<NodeId, string>;
  /** Nothing more is to be shown of it. */
  over(allocation: AllocationId): void;
  forget(): void;
}

export function createCheckpointBoard(): CheckpointBoard {
  const said = new Map<AllocationId, Map<NodeId, Progress>>();
  const errors = new Map<NodeId, string>();
  return {
    told(node, { allocationId, number, percent, estimatedSeconds, deferredSeconds }) {
      const id = allocationId as AllocationId;
      const ofNodes = said.get(id) ?? new Map<NodeId, Progress>();
      ofNodes.set(node, {
        n: number,
        percent: percent ?? null,
        estimatedSeconds: estimatedSeconds ?? null,
        deferredSeconds,
      });
      said.set(id, ofNodes);
    },
    progress(allocation, n) {
      const known = [...(said.get(allocation)?.values() ?? [])].filter((one) => one.n === n);
      return known.length === 0 ? null : known.reduce(slower);
    },
    storage(node, error) {
      if (error === "") errors.delete(node);
      else errors.set(node, error);
    },
    storageError: (node) => errors.get(node) ?? "",
    away: () => errors,
    over: (allocation) => said.delete(allocation),
    forget() {
      said.clear();
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
