// Which nodes have not told their fingerprint for too long. While there are none, which is nearly always, nothing is answered at
// all: a cycle that must ask of every node works everything out anew. Nodes that take no work are passed over.

import type { Duration, Instant, NodeId, View } from "@lattice/core";

export interface StaleParts {
  readonly view: () => Pick<View, "nodes">;
  /** When a node last told its fingerprint; null: not known. */
  readonly introduced: (node: NodeId) => Instant | null;
  /** Null: a fingerprint is never too old. */
  readonly fingerprintWindow: Duration | null;
}

/** All nodes are looked at this often at most: a node that was drained may be old when it comes back. */
const LOOK_EVERY_MS = 60_000;

/** Answers null when no node is stale at that time. */
export function createStaleness(parts: StaleParts): (at: Instant) => ((node: NodeId) => boolean) | null {
  const { fingerprintWindow, introduced } = parts;
  if (fingerprintWindow === null) return () => null;
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (at) => {
    if (at < quietUntil) return null;
    const isStale = (node: NodeId): boolean => {
      const told = introduced(node);
      return told !== null && at - told > fingerprintWindow;
    };
    let oldest: number = at;
    for (const { id, state } of parts.view().nodes()) {
      if (state.kind === "ready") oldest = Math.min(oldest, introduced(id) ?? at);
    }
    if (at - oldest > fingerprintWindow) return isStale;
    quietUntil = Math.min(at + LOOK_EVERY_MS, oldest + fingerprintWindow + 1);
    return null;
  };
}
