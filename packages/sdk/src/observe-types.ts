// What is measured of allocations, as it is on the wire.

export interface MetricsQuery {
  readonly mode?: "summary" | "per_node" | "per_gpu";
  readonly metrics?: readonly string[];
  readonly duration_seconds?: number;
}

export interface MetricPoint {
  readonly at?: string;
  readonly value?: number;
  readonly seconds?: number;
}

export interface MetricSeries {
  readonly metric: string;
  readonly unit?: string;
  readonly node?: string;
  readonly gpu?: number;
  readonly points?: readonly MetricPoint[];
}

export interface MetricsAnswer {
  readonly allocation_id: string;
  readonly mode?: string;
  readonly series?: readonly MetricSeries[];
  /** Why there are no values. */
  readonly unavailable_reason?: string;
  readonly telemetry_mode?: string;
}

export interface MetricsEvent {
  readonly at?: string;
  readonly allocation_id: string;
  readonly node?: string;
  readonly values?: Readonly<Record<string, number>>;
  readonly alerts?: readonly { readonly metric: string; readonly severity?: string; readonly message?: string }[];
  readonly unavailable_reason?: string;
}

export interface Diagnostics {
  readonly allocation_id: string;
  readonly state?: string;
  readonly network?: {
    readonly group_span?: number;
    readonly groups?: readonly { readonly group: string; readonly nodes?: number; readonly congestion?: number }[];
  };
  readonly storage?: {
    readonly mounts?: readonly { readonly source?: string; readonly target: string; readonly access?: string }[];
    readonly bandwidth_limit?: number;
    readonly bandwidth_used?: number;
  };
  readonly gpus?: { readonly type?: string; readonly count?: number; readonly linked?: number };
  readonly nodes?: readonly NodeDiagnostics[];
  readonly unmeasured?: readonly { readonly what: string; readonly reason?: string }[];
}

export interface NodeDiagnostics {
  readonly node: string;
  readonly state?: string;
  readonly connected?: boolean;
  readonly last_heartbeat?: string;
  readonly progress?: string;
  readonly message?: string;
}

export interface Comparison {
  readonly align?: string;
  readonly allocations?: readonly ComparedAllocation[];
  readonly unavailable_reason?: string;
}

export interface ComparedAllocation {
  readonly allocation_id: string;
  readonly name?: string;
  readonly state?: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  readonly elapsed_seconds?: number;
  readonly nodes?: number;
  readonly gpus?: number;
  readonly attempt?: number;
  readonly series?: readonly MetricSeries[];
}
