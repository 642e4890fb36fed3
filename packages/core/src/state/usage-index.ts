// The current use of nodes: nodes and placed allocations by tenant, nodes by vCluster, claims by allocation. Derived from the
// records, neither hashed nor stored.

import type { AllocationId, TenantId, VClusterId } from "../base/ids.ts";
import type { Claim } from "../model/node/node.ts";
import type { TenantUsage } from "./view.ts";

interface UsageIndex {
  usage(tenant: TenantId): TenantUsage;
  claimedNodes(vcluster: VClusterId): number;
  claimCount(allocation: AllocationId): number;
  /** An allocation of the tenant was placed (1) or is no longer placed (-1). */
  placed(tenant: TenantId, change: 1 | -1): void;
  /** Returns the allocations whose last claim was released by this change. */
  claimsReplaced(before: readonly Claim[], after: readonly Claim[]): readonly AllocationId[];
  /** Counts one claim on several nodes (positive) or its end there (negative). Returns the number of claims that its allocation has left. */
  claimCounted(claim: Claim, change: number): number;
}

type Tally = { nodes: number; running: number };

const NO_ALLOCATIONS: readonly AllocationId[] = [];

/** `usageChanged` is called before the usage of a tenant changes. */
export function createUsageIndex(usageChanged: (tenant: TenantId) => void): UsageIndex {
  const usage = new Map<TenantId, Tally>();
  const claims = new Map<AllocationId, number>();
  const claimedNodes = new Map<VClusterId, number>();

  function tallyOf(tenant: TenantId): Tally {
    usageChanged(tenant);
    const known = usage.get(tenant);
    if (known !== undefined) return known;
    const fresh = { nodes: 0, running: 0 };
    usage.set(tenant, fresh);
    return fresh;
  }

  function count(allocation: AllocationId, change: number): number {
    const left = (claims.get(allocation) ?? 0) + change;
    if (left === 0) claims.delete(allocation);
    else claims.set(allocation, left);
    return left;
  }

  function countNodes(claim: Pick<Claim, "vcluster"> | undefined, change: number): void {
    if (claim !== undefined) claimedNodes.set(claim.vcluster, (claimedNodes.get(claim.vcluster) ?? 0) + change);
  }

  function claimsReplaced(before: readonly Claim[], after: readonly Claim[]): readonly AllocationId[] {
    for (const tenant of tenantsOf(before)) tallyOf(tenant).nodes -= 1;
    for (const tenant of tenantsOf(after)) tallyOf(tenant).nodes += 1;
    // A node is shared within one vCluster only, so the first claim names it.
    countNodes(before[0], -1);
    countNodes(after[0], 1);
    for (const claim of after) count(claim.allocation, 1);
    if (before.length === 0) return NO_ALLOCATIONS;
    const cleared: AllocationId[] = [];
    for (const claim of before) {
      if (count(claim.allocation, -1) === 0) cleared.push(claim.allocation);
    }
    return cleared;
  }

  return {
    usage: (tenant) => ({ nodes: usage.get(tenant)?.nodes ?? 0, running: usage.get(tenant)?.running ?? 0 }),
    claimedNodes: (vcluster) => claimedNodes.get(vcluster) ?? 0,
    claimCount: (allocation) => claims.get(allocation) ?? 0,
    placed(tenant, change) {
      tallyOf(tenant).running += change;
    },
    claimsReplaced,
    claimCounted(claim, change) {
      tallyOf(claim.tenant).nodes += change;
      countNodes(claim, change);
      return count(claim.allocation, change);
    },
  };
}

const NO_TENANTS: readonly TenantId[] = [];

/** Distinct: several claims of one tenant on a shared node are one node in use. */
function tenantsOf(claims: readonly Claim[]): readonly TenantId[] {
  const first = claims[0];
  if (first === undefined) return NO_TENANTS;
  return claims.length === 1 ? [first.tenant] : [...new Set(claims.map((claim) => claim.tenant))];
}
