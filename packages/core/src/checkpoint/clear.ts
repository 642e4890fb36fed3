// Checkpoints of allocations that have ended, until an agent has taken it on to remove them. It is written down with the end, so that
// neither a change of leader nor an allocation that has no nodes at its end leaves files behind, and struck out when an agent has taken it
// to its own disk. Storage that no agent reaches any more must not fill the state: beyond the bound the oldest goes.

import type { Allocation } from "../allocation/allocation.ts";
import type { Ended } from "../allocation/ended.ts";
import type { NodeId } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, type Step, unchanged } from "../step.ts";
import type { ClearedCommand } from "./commands.ts";

/** A week of a busy cluster whose storage is away; a few MB. */
export const MAX_CLEARINGS = 10_000;
/** Named of each. */
const MAX_NODES = 16;
/** Servers before know no such table. */
const CLEARING_VERSION = 2;

export function queueClearing(step: Step, { record }: Ended): void {
  if (step.version < CLEARING_VERSION || record === null || !("attempt" in record)) return;
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

export function checkpointsCleared(step: Step, { allocations }: ClearedCommand): Outcome {
  const { clearings } = step.state.tables;
  const waiting = allocations.filter((id) => clearings.has(id));
  for (const id of waiting) clearings.delete(id);
  return waiting.length === 0 ? unchanged(null) : accepted(null);
}

function nodesOf({ phase, past }: Allocation): readonly NodeId[] {
  const last = "nodes" in phase ? phase.nodes : [];
  const before = (past?.attempts ?? []).toReversed().flatMap(({ nodes }) => nodes);
  return [...new Set([...last, ...before])].slice(0, MAX_NODES);
}
