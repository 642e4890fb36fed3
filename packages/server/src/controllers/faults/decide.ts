// Which nodes are set aside for what happened on them, which are tried again, and which have been different for too long. Pure;
// `apply` looks again, and keeps most of the cluster in service.

import {
  after,
  between,
  type Instant,
  isSensitiveHome,
  type Node,
  type ProbeNodeCommand,
  type SetAsideNodeCommand,
  type View,
  whyBlackHole,
} from "@lattice/core";
import type { FaultsConfig } from "../../config/faults.ts";

export interface FaultInputs {
  readonly now: Instant;
  readonly faults: FaultsConfig;
}

export function decideFaults(
  view: View,
  { now, faults }: FaultInputs,
): readonly (SetAsideNodeCommand | ProbeNodeCommand)[] {
  const commands: (SetAsideNodeCommand | ProbeNodeCommand)[] = [];
  const most = faults.mostPercent;
  for (const node of view.nodes()) {
    const { id, state, claims } = node;
    if (state.kind === "down" && state.until !== undefined && now >= state.until)
      commands.push({ kind: "node.probe", node: id, keep: faults.failures - 1 });
    const idle = state.kind === "ready" && claims.length === 0;
    const why = idle ? whyBlackHole(node, faults) : null;
    const drifted = why === null ? whyDrifted(view, node, { now, faults }) : null;
    if (why !== null)
      commands.push({ kind: "node.set_aside", node: id, reason: why, until: after(now, faults.probation), most });
    else if (drifted !== null) commands.push({ kind: "node.set_aside", node: id, reason: drifted, until: null, most });
  }
  return commands;
}

/** Null: it has not drifted, or there is time to set it right, or that is seen to already. */
function whyDrifted(view: View, node: Node, { now, faults }: FaultInputs): string | null {
  const { drift, state } = node;
  if (drift === undefined || (state.kind !== "ready" && state.kind !== "drained")) return null;
  const timeout = isSensitiveHome(view, node) ? faults.sensitiveDriftTimeout : faults.driftTimeout;
  if (between(drift.since, now) < timeout) return null;
  return `its configuration has drifted from ${drift.expected} and was not set right in time`;
}
