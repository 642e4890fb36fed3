// The part of a score that soft quotas leave, in [0, 1]. A budget leaves all of it up to 80 % used, half of it at 100
// %, and next to nothing beyond, which starves new allocations without refusing them. A tenant above its burst
// allowance moves behind all others, and still gets nodes that no other needs.

interface SoftQuota {
  /** The part of its budget used, the worse of GPU-hours and node-hours; undefined without a budget. */
  readonly budgetUsed: number | undefined;
  /** The part of the cluster it would use, over its own share; 0 without a share. */
  readonly ofShare: number;
  /** How much of its share it may use while others have no need; undefined without a limit. */
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
