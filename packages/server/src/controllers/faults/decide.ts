// Which nodes are set aside for what happened on them, which are tried again, and which have been different for too long. Pure;
// `apply` looks again, and keeps most of the cluster in service.

import {
  after,
  between,
  type Duration,
  type Instant,
  type ProbeNodeCommand,
  type SetAsideNodeCommand,
  type View,
  whyBlackHole,
} from "@lattice/core";

export interface FaultInputs {
  readonly now: Instant;
  /** Before a black hole is tried again. */
  readonly probation: Duration;
  /** For the infrastructure to set a drifted node right. */
  readonly driftTimeout: Duration;
}

export function decideFaults(
  view: View,
  { now, probation, driftTimeout }: FaultInputs,
): readonly (SetAsideNodeCommand | ProbeNodeCommand)[] {
  const commands: (SetAsideNodeCommand | ProbeNodeCommand)[] = [];
  for (const node of view.nodes()) {
    const { id, state, claims, drift } = node;
    if (state.kind === "down" && state.until !== undefined && now >= state.until)
      commands.push({ kind: "node.probe", node: id });
    if (state.kind !== "ready" || claims.length > 0) continue;
    const why = whyBlackHole(node);
    if (why !== null) commands.push({ kind: "node.set_aside", node: id, reason: why, until: after(now, probation) });
    else if (drift !== undefined && between(drift.since, now) >= driftTimeout) {
      const reason = `its configuration has drifted from ${drift.expected} and was not set right in time`;
      commands.push({ kind: "node.set_aside", node: id, reason, until: null });
    }
  }
  return commands;
}
