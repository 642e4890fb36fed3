// Hard quotas within one cycle: what each tenant uses now, and all sensitive work together, plus what this plan gives. `apply`
// checks the same limits again when the plan is committed.

import type { TenantId } from "@lattice/core";
import type { CycleInput, TenantInput } from "./cycle-types.ts";

export interface Ledger {
  /** How many nodes the tenant may add now: Infinity without a limit, 0 when too few for `least`. */
  headroom(tenant: TenantId, least: number): number;
  /** What is in the way of an allocation of that many nodes; null when nothing is. */
  shortage(tenant: TenantId, least: number): Shortage | null;
  charge(tenant: TenantId, nodes: number): void;
  /** Undoes a charge. */
  giveBack(tenant: TenantId, nodes: number): void;
}

export interface Shortage {
  readonly code: "quota_nodes" | "quota_allocations" | "sensitive_pool";
  readonly used: number;
  readonly limit: number;
}

export function ledgerOf(input: CycleInput): Ledger {
  const byId = tenantsById(input);
  const accounts = new Map<string, Account>();
  const { limit, current } = input.pool ?? NO_POOL;
  let pooled = current;
  const pool = (least: number): Shortage | null =>
    pooled + least > limit ? { code: "sensitive_pool", used: pooled, limit } : null;
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
    headroom: (tenant, least) => {
      const account = accountOf(tenant);
      if (pool(least) !== null) return 0;
      if (account === undefined) return limit - pooled;
      return shortageOf(account, least) === null ? Math.min(limit - pooled, nodesLeft(account)) : 0;
    },
    shortage: (tenant, least) => {
      const account = accountOf(tenant);
      return (account === undefined ? null : shortageOf(account, least)) ?? pool(least);
    },
    charge: (tenant, nodes) => add(tenant, nodes, 1),
    giveBack: (tenant, nodes) => add(tenant, -nodes, -1),
  };
}

const NO_POOL = { limit: Number.POSITIVE_INFINITY, current: 0 };

export const tenantsById = ({ ground, tenants }: CycleInput): ReadonlyMap<string, TenantInput> =>
  ground?.tenantById ?? new Map(tenants.map((tenant) => [tenant.id, tenant]));

interface Account {
  readonly tenant: TenantInput;
  /** Given by this plan. */
  nodes: number;
  running: number;
}

function shortageOf(account: Account, least: number): Shortage | null {
  const { tenant } = account;
  const running = tenant.running + account.running;
  if (tenant.maxConcurrentAllocations !== null && running + 1 > tenant.maxConcurrentAllocations) {
    return { code: "quota_allocations", used: running, limit: tenant.maxConcurrentAllocations };
  }
  const nodes = tenant.nodesInUse + account.nodes;
  if (tenant.maxNodes !== null && nodes + least > tenant.maxNodes) {
    return { code: "quota_nodes", used: nodes, limit: tenant.maxNodes };
  }
  return null;
}

function nodesLeft({ tenant, nodes }: Account): number {
  return tenant.maxNodes === null ? Number.POSITIVE_INFINITY : tenant.maxNodes - tenant.nodesInUse - nodes;
}
