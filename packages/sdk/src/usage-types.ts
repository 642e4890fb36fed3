// Usage as the REST interface tells it. Days are UTC; figures include work that still runs.

export interface UsageQuery {
  readonly user?: string;
  /** The last so many days, today included; absent: the budget period. */
  readonly days?: number;
  /** Instead of `days`: 2026-03-01, or an instant. */
  readonly since?: string;
  readonly until?: string;
}

export interface UserUsageQuery extends UsageQuery {
  readonly tenant?: string;
}

export interface RunningUsage {
  readonly allocations?: number;
  readonly nodes?: number;
  readonly gpus?: number;
}

export interface Hours {
  readonly node_hours?: number;
  readonly gpu_hours?: number;
}

export interface Budget {
  readonly kind: "gpu_hours" | "node_hours";
  readonly period_days: number;
  readonly hours: number;
  readonly used_hours: number;
  readonly remaining_hours: number;
  readonly percent: number;
}

export interface DayUsage extends Hours {
  readonly day: string;
}

export interface UserUsage extends Hours {
  readonly user: string;
  readonly running?: RunningUsage;
}

export interface TenantUsage extends Hours {
  readonly tenant: string;
  readonly running?: RunningUsage;
}

export interface Usage extends Hours {
  /** Empty: several tenants together. */
  readonly tenant?: string;
  /** Empty: all users. */
  readonly user?: string;
  readonly since: string;
  readonly until: string;
  readonly days: number;
  readonly as_of?: string;
  readonly running?: RunningUsage;
  readonly budgets?: readonly Budget[];
  /** Fraction of all node-hours of the cluster on these days. */
  readonly share?: number;
  readonly fair_share_target?: number;
  readonly burst_allowance?: number;
  readonly by_day?: readonly DayUsage[];
  readonly by_user?: readonly UserUsage[];
  readonly by_tenant?: readonly TenantUsage[];
  readonly users?: number;
  readonly log_index?: string;
}
