// f3, the tenant's distance below its share of the cluster, in [0, 1]: 1 when it uses nothing,
// 0 at its share and above. A tenant without a share to miss has no deficit.

export interface Share {
  /** Thousandths of the cluster. */
  readonly targetMilli: number;
  /** Its part of what all use, between 0 and 1. */
  readonly used: number;
}

export function fairShare({ targetMilli, used }: Share): number {
  if (targetMilli <= 0) return 0;
  const target = targetMilli / 1000;
  return Math.min(1, Math.max(0, (target - used) / target));
}
