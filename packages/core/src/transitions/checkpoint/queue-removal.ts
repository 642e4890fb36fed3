// Checkpoints of allocations that have ended, until an agent has taken it on to remove them. It is written down with the end, so that
// neither a change of leader nor an allocation that has no nodes at its end leaves files behind, and struck out when an agent has taken it
// to its own disk. Storage that no agent reaches any more must not fill the state: beyond the bound the oldest goes.

import type { NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { EndedWork } from "../../model/allocation/ended-work.ts";
import type { Step } from "../step.ts";

/** A week of a busy cluster whose storage is away; a few MB. */
const MAX_CLEARINGS = 10_000;
/** Named of each. */
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
