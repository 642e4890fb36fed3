// The identity of a cluster: made once when its log begins, and kept in the log, in snapshots and in backups. Servers and
// agents store it and refuse to work with another cluster. A restore of a backup starts the next generation: its log
// begins again, so positions in the log of an earlier generation mean nothing any more.

import type { Instant } from "../../base/ids.ts";

export interface ClusterIdentity {
  readonly id: string;
  /** 1 for a new cluster; the time of the latest restore in seconds, so that two restores of one backup differ. */
  readonly generation: number;
  /** Identities of empty clusters into which a backup of this cluster was restored. */
  readonly former: readonly string[];
}

/** Cluster identity as known to one side of a connection. */
export interface KnownIdentity {
  readonly id: string;
  readonly generation: number;
}

/** 128 random bits in hexadecimal. */
const CLUSTER_ID = /^[0-9a-f]{32}$/;
/** Restores into one cluster after another; older identities are forgotten. */
export const MAX_FORMER = 16;

export const isClusterId = (text: string): boolean => CLUSTER_ID.test(text);

type IdentityVerdict =
  | { readonly kind: "same" }
  /** Another cluster. */
  | { readonly kind: "foreign" }
  /** The same cluster before a restore that the other side has seen. */
  | { readonly kind: "outdated" };

/** Judges a cluster from what a server or an agent stored about its own. `null`: it has not joined any cluster yet. */
export function judgeIdentity(stored: KnownIdentity | null, met: ClusterIdentity): IdentityVerdict {
  if (stored === null || met.former.includes(stored.id)) return { kind: "same" };
  if (stored.id !== met.id) return { kind: "foreign" };
  return { kind: met.generation < stored.generation ? "outdated" : "same" };
}

/** Returns the identity after a restore of `restored` into the empty cluster `own`, or into a new log for `null`. */
export function restoredIdentity(
  restored: ClusterIdentity | null,
  own: ClusterIdentity | null,
  at: Instant,
): ClusterIdentity | null {
  if (restored === null) return own;
  const former = [...restored.former, ...(own === null ? [] : [own.id, ...own.former])];
  return {
    id: restored.id,
    generation: Math.max(restored.generation + 1, Math.floor(at / 1000)),
    former: [...new Set(former)].filter((id) => id !== restored.id).slice(-MAX_FORMER),
  };
}
