// Judges nodes by how long they have been silent. Pure: heartbeats and the clock come in as
// arguments. A leader judges no node before a full timeout of its own: silence counts from the
// later of the last heartbeat and the moment it began to lead (D9).

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

export interface HealthInputs {
  readonly now: Instant;
  readonly leadingSince: Instant;
  readonly lastHeard: (node: NodeId) => Instant | null;
  /** Silence after which a node is degraded. */
  readonly timeout: Duration;
  /** Further silence after which it is down. */
  readonly grace: Duration;
  /** The same for a node that others have lent; absent: no shorter. */
  readonly borrowedGrace?: Duration;
  /** For nodes of sensitive vClusters; absent: no longer. */
  readonly sensitive?: { readonly timeout: Duration; readonly grace: Duration };
}

export function decideHealth(view: View, inputs: HealthInputs): NodeHealthCommand[] {
  const verdicts: NodeHealthCommand[] = [];
  for (const node of view.nodes()) {
    const verdict = judge(node, patient(view, node, inputs));
    if (verdict !== null) verdicts.push(verdict);
  }
  return verdicts;
}

/** What is worth much is not given up for a network that stumbles. */
function patient(view: View, node: Node, inputs: HealthInputs): HealthInputs {
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
  const owing = kind === "down" && node.claims.length > 0;
  const watched = owing || kind === "ready" || kind === "degraded" || kind === "draining" || kind === "drained";
  const grace = isLent(node) ? Math.min(inputs.grace, inputs.borrowedGrace ?? inputs.grace) : inputs.grace;
  if (watched && silence >= inputs.timeout + grace)
    return say(node, "silent", `no heartbeat for ${secondsOf(silence)} s`);
  if (kind === "ready" && silence >= inputs.timeout)
    return say(node, "late", `no heartbeat for ${secondsOf(silence)} s`);
  const healing = kind === "degraded" || (node.state.kind === "down" && node.state.cause === "silent");
  const heardLately = heardAt !== null && between(heardAt, inputs.now) < inputs.timeout;
  if (healing && heardLately) return say(node, "heard", "heartbeats are back");
  return null;
}

/** Its owners want it back soon. */
const isLent = ({ homeVCluster, claims }: Node): boolean =>
  typeof homeVCluster === "string" && claims.some(({ vcluster }) => vcluster !== homeVCluster);

const say = (node: Node, verdict: NodeHealthCommand["verdict"], reason: string): NodeHealthCommand => ({
  kind: "node.health",
  node: node.id,
  verdict,
  reason,
});

const later = (a: Instant | null, b: Instant): Instant => (a !== null && a > b ? a : b);
const secondsOf = (length: Duration): number => Math.round(length / 1000);
