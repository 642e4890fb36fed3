// Judges nodes by the time since their last heartbeat. Pure: heartbeats and the clock are arguments. Silence counts from
// the later of the last heartbeat and the start of the term, so a new leader judges no node before a full timeout (D9).

import {
  between,
  type Duration,
  type Instant,
  isSensitiveHome,
  type Node,
  type NodeHealthCommand,
  type NodeId,
  type View,
} from "@lattice/core";

interface HealthInputs {
  readonly now: Instant;
  readonly leadingSince: Instant;
  readonly lastHeard: (node: NodeId) => Instant | null;
  /** Silence after which a node is degraded. */
  readonly timeout: Duration;
  /** Further silence after which it is down. */
  readonly grace: Duration;
  /** The grace of a borrowed node, when shorter. */
  readonly borrowedGrace?: Duration;
  /** Timeout and grace of nodes of sensitive vClusters, when longer. */
  readonly sensitive?: { readonly timeout: Duration; readonly grace: Duration };
}

export function decideHealth(view: View, inputs: HealthInputs): NodeHealthCommand[] {
  const verdicts: NodeHealthCommand[] = [];
  for (const node of view.nodes()) {
    const verdict = judge(node, withSensitiveLimits(view, node, inputs));
    if (verdict !== null) verdicts.push(verdict);
  }
  return verdicts;
}

/** Sensitive work is expensive to restart, so its nodes may be silent for longer. */
function withSensitiveLimits(view: View, node: Node, inputs: HealthInputs): HealthInputs {
  const { sensitive, timeout, grace } = inputs;
  if (sensitive === undefined || !isSensitiveHome(view, node)) return inputs;
  const longer = (a: Duration, b: Duration): Duration => (a > b ? a : b);
  return { ...inputs, timeout: longer(sensitive.timeout, timeout), grace: longer(sensitive.grace, grace) };
}

function judge(node: Node, inputs: HealthInputs): NodeHealthCommand | null {
  const heardAt = inputs.lastHeard(node.id);
  const silence = between(later(heardAt, inputs.leadingSince), inputs.now);
  const { kind } = node.state;
  // A node that is down and silent can no longer confirm the end of stopped attempts.
  const holdsClaims = kind === "down" && node.claims.length > 0;
  const isWatched = holdsClaims || kind === "ready" || kind === "degraded" || kind === "draining" || kind === "drained";
  const grace = isLent(node) ? Math.min(inputs.grace, inputs.borrowedGrace ?? inputs.grace) : inputs.grace;
  if (isWatched && silence >= inputs.timeout + grace)
    return healthCommand(node, "silent", `no heartbeat for ${secondsOf(silence)} s`);
  if (kind === "ready" && silence >= inputs.timeout)
    return healthCommand(node, "late", `no heartbeat for ${secondsOf(silence)} s`);
  const isRecoverable = kind === "degraded" || (node.state.kind === "down" && node.state.cause === "silent");
  const isHeard = heardAt !== null && between(heardAt, inputs.now) < inputs.timeout;
  if (isRecoverable && isHeard) return healthCommand(node, "heard", "heartbeats are back");
  return null;
}

/** The node runs work of another vCluster than its own. */
const isLent = ({ homeVCluster, claims }: Node): boolean =>
  typeof homeVCluster === "string" && claims.some(({ vcluster }) => vcluster !== homeVCluster);

const healthCommand = (node: Node, verdict: NodeHealthCommand["verdict"], reason: string): NodeHealthCommand => ({
  kind: "node.health",
  node: node.id,
  verdict,
  reason,
});

const later = (a: Instant | null, b: Instant): Instant => (a !== null && a > b ? a : b);
const secondsOf = (length: Duration): number => Math.round(length / 1000);
