// Which attempt runs on which node. Mostly that of the record; nodes that were added to a running service have
// attempts of their own, so that no node is ever told the same attempt twice.

import type { Attempt, NodeId } from "../../base/ids.ts";
import type { Allocation } from "./allocation.ts";
import type { PlacedPhase } from "./phase.ts";

export const attemptAt = ({ attempt }: Pick<Allocation, "attempt">, { attempts }: PlacedPhase, i: number): Attempt =>
  attempts?.[i] ?? attempt;

/** Of the newest one when the node has none. */
export function attemptOn(record: Pick<Allocation, "attempt" | "phase">, node: NodeId): Attempt {
  const { phase } = record;
  if (!("nodes" in phase) || !("attempts" in phase) || phase.attempts === undefined) return record.attempt;
  return phase.attempts[phase.nodes.indexOf(node)] ?? record.attempt;
}
