// The attempt of each node. Usually that of the record; nodes added to a running service have their own attempts, so
// that no node receives the same attempt twice.

import type { Attempt, NodeId } from "../../base/ids.ts";
import type { Allocation } from "./allocation.ts";
import type { PlacedPhase } from "./phase.ts";

export const attemptAt = ({ attempt }: Pick<Allocation, "attempt">, { attempts }: PlacedPhase, i: number): Attempt =>
  attempts?.[i] ?? attempt;

/** Returns the newest attempt when the node has none. */
export function attemptOn(record: Pick<Allocation, "attempt" | "phase">, node: NodeId): Attempt {
  const { phase } = record;
  if (!("nodes" in phase) || !("attempts" in phase) || phase.attempts === undefined) return record.attempt;
  return phase.attempts[phase.nodes.indexOf(node)] ?? record.attempt;
}
