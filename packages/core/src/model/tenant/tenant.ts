// Tenants and their quotas. Hard limits are checked by `apply`; soft ones steer the scheduler.

import type { Instant, TenantId } from "../../base/ids.ts";

export interface Quota {
  /** `null` for no limit. */
  readonly maxNodes: number | null;
  readonly maxConcurrentAllocations: number | null;
  /** Thousandths of the cluster; `null` for an equal share. */
  readonly fairShareMilli: number | null;
  readonly gpuHoursBudget: number | null;
  readonly nodeHoursBudget: number | null;
  readonly burstAllowanceMilli: number | null;
  /** Named network domains at a time; null or absent: the cluster's limit. */
  readonly maxNetworkDomains?: number | null;
}

export interface Tenant {
  readonly id: TenantId;
  readonly description: string;
  readonly quota: Quota;
  /** Highest preemption class that its users may request. */
  readonly maxPreemptionClass: number;
  readonly createdAt: Instant;
  /** Created by the first submission, not by an administrator. */
  readonly automatic: boolean;
  /** Missing while the limits equal the ceiling. */
  readonly ceiling?: Ceiling;
}

/** The limits of the cluster's administrators, where the tenant's own administrators have set lower ones. */
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
