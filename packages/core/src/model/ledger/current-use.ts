// The nodes and GPUs that a running attempt holds, and since when. Charging and the figures of running work share this
// definition.

import type { Instant, NodeId } from "../../base/ids.ts";
import type { Allocation } from "../allocation/allocation.ts";
import { isPlaced } from "../allocation/phase.ts";
import { WHOLE } from "../allocation/share.ts";

export interface CurrentUse {
  /** The fraction of a shared node; sums are exact. */
  readonly nodes: number;
  readonly gpus: number;
}

/** An unknown node counts as one with one GPU. */
const UNKNOWN_GPUS = 1;

export type GpusOn = (node: NodeId) => number | undefined;

/** Returns the time from which the current attempt is charged; null when it is not. */
export function chargedSince(record: Allocation | undefined): Instant | null {
  if (record === undefined || !isPlaced(record.phase)) return null;
  if (record.phase.kind === "staging") return null;
  return record.phase.kind === "running"
    ? (record.phase.countedFrom ?? record.phase.startedAt)
    : record.phase.startedAt;
}

/** An exclusive attempt holds all GPUs of its nodes, requested or not; a sharing one holds its share. */
export function currentUse({ phase, share }: Pick<Allocation, "phase" | "share">, gpusOn: GpusOn): CurrentUse {
  if (!isPlaced(phase)) return { nodes: 0, gpus: 0 };
  if (share !== undefined) return { nodes: share.part / WHOLE, gpus: share.gpuCount };
  let gpus = 0;
  for (const node of phase.nodes) gpus += gpusOn(node) ?? UNKNOWN_GPUS;
  return { nodes: phase.nodes.length, gpus };
}
