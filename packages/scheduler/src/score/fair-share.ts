// f3, the tenant's deficit to its share of the cluster, in [0, 1]: 1 when it uses nothing, 0 at its share and above. A
// tenant without a share has no deficit.

interface FairShareInput {
  /** In thousandths of the cluster. */
  readonly targetMilli: number;
  /** Its part of the use by all tenants, between 0 and 1. */
  readonly used: number;
}

export function fairShare({ targetMilli, used }: FairShareInput): number {
  if (targetMilli <= 0) return 0;
  const target = targetMilli / 1000;
  return Math.min(1, Math.max(0, (target - used) / target));
}
