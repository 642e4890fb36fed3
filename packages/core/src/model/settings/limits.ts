// Limits of the whole cluster, checked when placements are committed. They come from the leader's configuration and are
// in the state so that all replicas decide alike.

export interface ClusterLimits {
  /** Nodes that sensitive vClusters together may hold; `null` when unlimited. */
  readonly sensitivePoolSize: number | null;
}

export const NO_LIMITS: ClusterLimits = { sensitivePoolSize: null };
export const MAX_POOL_SIZE = 1_000_000;
