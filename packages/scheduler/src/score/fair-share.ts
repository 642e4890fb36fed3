// f3, the tenant's distance below its share of the cluster, in [0, 1]: 1 when it uses nothing,
// 0 at its share and above. A tenant without a share to miss has no deficit.

export interface Share {
  /** Thousandths of the cluster. */
  readonly targetMilli: number;
  readonly nodesInUse: number;
  readonly clusterNodes: number;
}

export function fairShare({ targetMilli, nodesInUse, clusterNodes }: Share): number {
  if (targetMilli <= 0 || clusterNodes <= 0) return 0;
  const target = targetMilli / 1000;
  return Math.min(1, Math.max(0, (target - nodesInUse / clusterNodes) / target));
}
