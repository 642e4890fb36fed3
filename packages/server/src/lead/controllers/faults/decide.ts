// Decides which nodes are quarantined after failures, which are probed, and which have drifted for too long. Pure;
// `apply` checks again and keeps most of the cluster in service.

import {
  after,
  between,
  type Instant,
  isSensitiveHome,
  type Node,
  type ProbeNodeCommand,
  type QuarantineNodeCommand,
  quarantineReason,
  type View,
} from "@lattice/core";
import type { Config } from "../../../base/config/index.ts";

interface FaultInputs {
  readonly now: Instant;
  readonly faults: Config["faults"];
}

export function decideFaults(
  view: View,
  { now, faults }: FaultInputs,
): readonly (QuarantineNodeCommand | ProbeNodeCommand)[] {
  const commands: (QuarantineNodeCommand | ProbeNodeCommand)[] = [];
  const maxPercent = faults.quarantineMaxPercent;
  const rule = { failures: faults.failuresToQuarantine, quick: faults.quickFailure };
  for (const node of view.nodes()) {
    const { id, state, claims } = node;
    if (state.kind === "down" && state.until !== undefined && now >= state.until)
      commands.push({ kind: "node.probe", node: id, keep: faults.failuresToQuarantine - 1 });
    const idle = state.kind === "ready" && claims.length === 0;
    const failureReason = idle ? quarantineReason(node, rule) : null;
    const drifted = failureReason === null ? driftReason(view, node, { now, faults }) : null;
    if (failureReason !== null)
      commands.push({
        kind: "node.quarantine",
        node: id,
        reason: failureReason,
        until: after(now, faults.probation),
        maxPercent,
      });
    else if (drifted !== null)
      commands.push({ kind: "node.quarantine", node: id, reason: drifted, until: null, maxPercent });
  }
  return commands;
}

/** Returns `null` when the node has not drifted, is within its grace, or is handled already. */
function driftReason(view: View, node: Node, { now, faults }: FaultInputs): string | null {
  const { drift, state } = node;
  if (drift === undefined || (state.kind !== "ready" && state.kind !== "drained")) return null;
  const timeout = isSensitiveHome(view, node)
    ? faults.sensitiveDriftRemediationTimeout
    : faults.driftRemediationTimeout;
  if (between(drift.since, now) < timeout) return null;
  return `its configuration has drifted from ${drift.expected} and was not repaired in time`;
}
