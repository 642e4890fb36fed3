// Hard quotas within one cycle: the current use of each tenant, and of all sensitive work together, plus the starts of
// this plan. `apply` checks the same limits again at commit.

import type { TenantId } from "@lattice/core";
import type { CycleInput, TenantInput } from "../input/cycle-input.ts";

export interface Quotas {
  /**
   * Returns how many nodes the tenant may add beside the kept quota: Infinity without a limit, 0 when fewer than
   * `nodesNeeded`.
   */
  headroom(tenant: TenantId, nodesNeeded: number, kept?: KeptQuota): number;
  /** Whether the limits would admit this many nodes if nothing else ran. */
  isWithinLimits(tenant: TenantId, nodesNeeded: number): boolean;
  /** Returns what keeps an allocation of this many nodes from starting, or `null`. */
  shortage(tenant: TenantId, nodesNeeded: number, kept?: KeptQuota): QuotaShortage | null;
  charge(tenant: TenantId, nodes: number): void;
  /** Undoes a charge. */
  refund(tenant: TenantId, nodes: number): void;
}

/** Quota that is kept for reservations; see `reserve/kept-quota.ts`. */
export interface KeptQuota {
  /** Of the tenant. */
  readonly nodes: number;
  /** Of the tenant. */
  readonly allocations: number;
  /** Of all tenants: the nodes of the pool of sensitive work. */
  readonly pooled: number;
}

interface QuotaShortage {
  readonly code: "quota_nodes" | "quota_allocations" | "sensitive_pool";
  readonly used: number;
  readonly limit: number;
}

export function createQuotas(input: CycleInput): Quotas {
  const byId = tenantsById(input);
  const accounts = new Map<string, Account>();
  const { limit, current } = input.pool ?? NO_POOL;
  let pooled = current;
  const pool = (nodesNeeded: number, kept: number): QuotaShortage | null =>
    pooled + kept + nodesNeeded > limit ? { code: "sensitive_pool", used: pooled, limit } : null;
  const accountOf = (id: TenantId): Account | undefined => {
    const known = accounts.get(id);
    const tenant = known === undefined ? byId.get(id) : undefined;
    if (tenant === undefined) return known;
    const account = { tenant, nodes: 0, running: 0 };
    accounts.set(id, account);
    return account;
  };
  const add = (tenant: TenantId, nodes: number, running: number): void => {
    pooled += nodes;
    const account = accountOf(tenant);
    if (account === undefined) return;
    account.nodes += nodes;
    account.running += running;
  };
  return {
    headroom: (tenant, nodesNeeded, kept = NOTHING_KEPT) => {
      const account = accountOf(tenant);
      if (pool(nodesNeeded, kept.pooled) !== null) return 0;
      const left = limit - pooled - kept.pooled;
      if (account === undefined) return left;
      return shortageOf(account, nodesNeeded, kept) === null ? Math.min(left, nodesLeft(account) - kept.nodes) : 0;
    },
    isWithinLimits: (id, nodesNeeded) => {
      const tenant = byId.get(id);
      if (nodesNeeded > limit) return false;
      if (tenant === undefined) return true;
      return nodesNeeded <= (tenant.maxNodes ?? nodesNeeded) && (tenant.maxConcurrentAllocations ?? 1) >= 1;
    },
    shortage: (tenant, nodesNeeded, kept = NOTHING_KEPT) => {
      const account = accountOf(tenant);
      const ofTenant = account === undefined ? null : shortageOf(account, nodesNeeded, kept);
      return ofTenant ?? pool(nodesNeeded, kept.pooled);
    },
    charge: (tenant, nodes) => add(tenant, nodes, 1),
    refund: (tenant, nodes) => add(tenant, -nodes, -1),
  };
}

const NOTHING_KEPT: KeptQuota = { nodes: 0, allocations: 0, pooled: 0 };

const NO_POOL = { limit: Number.POSITIVE_INFINITY, current: 0 };

export const tenantsById = ({ prepared, tenants }: CycleInput): ReadonlyMap<string, TenantInput> =>
  prepared?.tenantById ?? new Map(tenants.map((tenant) => [tenant.id, tenant]));

interface Account {
  readonly tenant: TenantInput;
  /** Charged by this plan. */
  nodes: number;
  running: number;
}

function shortageOf(account: Account, nodesNeeded: number, kept: KeptQuota): QuotaShortage | null {
  const { tenant } = account;
  const running = tenant.running + account.running;
  if (tenant.maxConcurrentAllocations !== null && running + kept.allocations + 1 > tenant.maxConcurrentAllocations) {
    return { code: "quota_allocations", used: running, limit: tenant.maxConcurrentAllocations };
  }
  const nodes = tenant.nodesInUse + account.nodes;
  if (tenant.maxNodes !== null && nodes + kept.nodes + nodesNeeded > tenant.maxNodes) {
    return { code: "quota_nodes", used: nodes, limit: tenant.maxNodes };
  }
  return null;
}

function nodesLeft({ tenant, nodes }: Account): number {
  return tenant.maxNodes === null ? Number.POSITIVE_INFINITY : tenant.maxNodes - tenant.nodesInUse - nodes;
}
