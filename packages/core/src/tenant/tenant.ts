// Tenants and their quotas. Hard limits are checked by `apply`; soft ones steer the scheduler.

import type { Instant, TenantId } from "../ids.ts";

export interface Quota {
  /** Null: unlimited. */
  readonly maxNodes: number | null;
  readonly maxConcurrentAllocations: number | null;
  /** Thousandths of the cluster; null: an equal share. */
  readonly fairShareMilli: number | null;
  readonly gpuHoursBudget: number | null;
  readonly nodeHoursBudget: number | null;
  readonly burstAllowanceMilli: number | null;
  /** Named ones at a time; null or absent: as many as the cluster allows every tenant. */
  readonly maxNetworkDomains?: number | null;
}

export interface Tenant {
  readonly id: TenantId;
  readonly description: string;
  readonly quota: Quota;
  /** Highest preemption class its users may ask for. */
  readonly maxPreemptionClass: number;
  readonly createdAt: Instant;
  /** Made by a first submission, not by an administrator. */
  readonly automatic: boolean;
  /** Absent: the limits are as they were set. */
  readonly ceiling?: Ceiling;
}

/** What the cluster's administrators have set, where the tenant's own have gone below. */
export interface Ceiling {
  readonly quota: Quota;
  readonly maxPreemptionClass: number;
}

export const UNLIMITED: Quota = {
  maxNodes: null,
  maxConcurrentAllocations: null,
  fairShareMilli: null,
  gpuHoursBudget: null,
  nodeHoursBudget: null,
  burstAllowanceMilli: null,
};
