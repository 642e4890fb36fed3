// Nodes whose fingerprint is too old. Returns no predicate while there are none, which is nearly always: with a
// predicate, every cycle builds its snapshot from scratch. Nodes that take no work are ignored.

import type { Duration, Instant, NodeId, View } from "@lattice/core";

export interface StaleParts {
  readonly view: () => Pick<View, "nodes">;
  /** When a node last reported its fingerprint; `null` when unknown. */
  readonly fingerprintAt: (node: NodeId) => Instant | null;
  /** The greatest age of a fingerprint; `null` without a limit. */
  readonly fingerprintWindow: Duration | null;
}

/** All nodes are checked at most this often: a node may have an old fingerprint when its drain ends. */
const CHECK_INTERVAL_MS = 60_000;

/** Returns `null` when no node is stale at that time. */
export function createStaleness(parts: StaleParts): (at: Instant) => ((node: NodeId) => boolean) | null {
  const { fingerprintWindow, fingerprintAt } = parts;
  if (fingerprintWindow === null) return () => null;
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (at) => {
    if (at < quietUntil) return null;
    const isStale = (node: NodeId): boolean => {
      const reportedAt = fingerprintAt(node);
      return reportedAt !== null && at - reportedAt > fingerprintWindow;
    };
    let oldest: number = at;
    for (const { id, state } of parts.view().nodes()) {
      if (state.kind === "ready") oldest = Math.min(oldest, fingerprintAt(id) ?? at);
    }
    if (at - oldest > fingerprintWindow) return isStale;
    quietUntil = Math.min(at + CHECK_INTERVAL_MS, oldest + fingerprintWindow + 1);
    return null;
  };
}
