// What soft quotas leave of a score, in [0, 1]. A budget: all of it up to 80 % used, half of it at 100 %,
// next to nothing beyond, which starves new allocations without refusing them. The burst allowance:
// a tenant above it steps back behind all who are not, and still gets what nobody else wants.

export interface SoftQuota {
  /** Share of its budget used, the worse of GPU-hours and node-hours; undefined: no budget. */
  readonly budgetUsed: number | undefined;
  /** Share of the cluster it would use, over its own share; 0 without a share. */
  readonly ofShare: number;
  /** How much of its share it may use while others have no need; undefined: no bound. */
  readonly burstAllowance: number | undefined;
}

const FREE_UP_TO = 0.8;
const AT_LIMIT = 0.5;
const STARVED = 0.05;

export function softQuota({ budgetUsed, ofShare, burstAllowance }: SoftQuota): number {
  const burst = burstAllowance !== undefined && ofShare > burstAllowance ? STARVED : 1;
  return Math.min(burst, budgetLeft(budgetUsed ?? 0));
}

function budgetLeft(used: number): number {
  if (used <= FREE_UP_TO) return 1;
  if (used > 1) return STARVED;
  return 1 - ((used - FREE_UP_TO) / (1 - FREE_UP_TO)) * (1 - AT_LIMIT);
}
