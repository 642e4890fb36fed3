// What an attempt holds while it runs, and since when: the one definition that charging and the
// figures of running work share.

import type { Allocation } from "../allocation/allocation.ts";
import { isPlaced } from "../allocation/phase.ts";
import type { Instant, NodeId } from "../ids.ts";

export interface Held {
  readonly nodes: number;
  readonly gpus: number;
}

/** A node that nobody knows counts as one with one GPU. */
const UNKNOWN_GPUS = 1;

export type GpusOn = (node: NodeId) => number | undefined;

/** Since when the nodes of the current attempt are to be charged; null when none are. */
export function startOf(record: Allocation | undefined): Instant | null {
  if (record === undefined || !isPlaced(record.phase)) return null;
  if (record.phase.kind === "staging") return null;
  return record.phase.kind === "running"
    ? (record.phase.countedFrom ?? record.phase.startedAt)
    : record.phase.startedAt;
}

/** A claim is exclusive, so an attempt holds all GPUs of its nodes, whether it asked for them or not. */
export function heldBy({ phase }: Allocation, gpusOn: GpusOn): Held {
  if (!isPlaced(phase)) return { nodes: 0, gpus: 0 };
  let gpus = 0;
  for (const node of phase.nodes) gpus += gpusOn(node) ?? UNKNOWN_GPUS;
  return { nodes: phase.nodes.length, gpus };
}
