// Limits that hold for the whole cluster and are checked where placements are committed. They come from the configuration of the
// leader, and are in the state so that every replica judges alike.

export interface ClusterLimits {
  /** Nodes that sensitive vClusters together may hold; `null` when unlimited. */
  readonly sensitivePoolSize: number | null;
}

export const NO_LIMITS: ClusterLimits = { sensitivePoolSize: null };
export const MAX_POOL_SIZE = 1_000_000;
