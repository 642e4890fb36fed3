// Queues the removal of checkpoints of ended allocations until an agent accepts it. The record is written with the end,
// so that neither a change of leader nor an allocation without nodes leaves files behind, and removed when an agent has
// stored it. The queue is bounded: beyond the bound the oldest record is dropped.

import type { NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { EndedWork } from "../../model/allocation/ended-work.ts";
import type { Step } from "../step.ts";

/** A week of a busy cluster with unavailable storage; a few MB. */
const MAX_CLEARINGS = 10_000;
/** Nodes per record. */
const MAX_NODES = 16;

export function queueCheckpointRemoval(step: Step, { record }: EndedWork): void {
  if (record === null || !("attempt" in record)) return;
  if ((record.checkpoints?.asked ?? 0) === 0) return;
  const { clearings } = step.state.tables;
  const { id, user, spec } = record;
  const { tenant, project } = spec;
  clearings.set(id, { allocation: id, tenant, project, user, endedAt: step.at, nodes: nodesOf(record) });
  const [oldest] = clearings.keys();
  if (clearings.size <= MAX_CLEARINGS || oldest === undefined) return;
  clearings.delete(oldest);
  const message = "too many wait to be removed: its checkpoints stay";
  step.events.push({ kind: "checkpoint", allocation: oldest, reason: "left_behind", message });
}

function nodesOf({ phase, past }: Allocation): readonly NodeId[] {
  const last = "nodes" in phase ? phase.nodes : [];
  const before = (past?.attempts ?? []).toReversed().flatMap(({ nodes }) => nodes);
  return [...new Set([...last, ...before])].slice(0, MAX_NODES);
}
