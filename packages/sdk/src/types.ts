// The JSON of the REST interface, as it is on the wire: snake_case names, lower-case states, ids
// and log indexes as strings, instants as RFC 3339 text. The server leaves out what is empty, so
// most fields are optional here.

import type { CheckpointStatus } from "./checkpoint-types.ts";
import type { Dependency, TaskGroupStatus } from "./group-types.ts";
import type { AllocationSpec, Environment, LivenessProbe, ScalePolicy } from "./spec-types.ts";

export type * from "./spec-types.ts";

export type AllocationState =
  | "pending"
  | "staging"
  | "running"
  | "checkpointing"
  | "suspended"
  | "completed"
  | "failed"
  | "cancelled";

export type NodeState = "unknown" | "booting" | "ready" | "degraded" | "draining" | "drained" | "down" | "failed";

export interface NodeProgress {
  readonly node: string;
  readonly state?: AllocationState;
  readonly exit_code?: number;
  readonly message?: string;
}

export interface Allocation {
  readonly id: string;
  readonly state: AllocationState;
  readonly spec?: AllocationSpec;
  readonly user?: string;
  readonly submitted_at?: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  readonly nodes?: readonly string[];
  /** Topology groups that its nodes are in. */
  readonly topology_groups?: readonly string[];
  readonly attempt?: number;
  readonly requeues?: number;
  /** How often it was stopped for others; not counted in requeues. */
  readonly preemptions?: number;
  /** How often it was suspended for another cause. */
  readonly suspensions?: number;
  /** Of a service: nodes that joined it while it ran, each with a number among the attempts. */
  readonly nodes_joined?: number;
  readonly checkpoint?: CheckpointStatus;
  readonly exit_code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly pending_reasons?: readonly string[];
  /** One for each of them, for programs. */
  readonly pending_reason_codes?: readonly string[];
  readonly estimated_start?: string;
  /** Whether it is a promise; absent: an estimate, which may move. */
  readonly start_reserved?: boolean;
  readonly progress?: readonly NodeProgress[];
  readonly backfilled?: boolean;
  readonly scores?: Readonly<Record<string, number>>;
  readonly log_index?: string;
  readonly group?: TaskGroupStatus;
  readonly dag_id?: string;
  readonly unmet?: readonly Dependency[];
  readonly scaling?: {
    readonly min?: number;
    readonly max?: number;
    readonly nodes?: number;
    readonly metric?: string;
    readonly target?: string;
    readonly last_scaled_at?: string;
    readonly outdated_nodes?: number;
  };
  readonly network?: { readonly domain: string; readonly vni?: number };
  /** Somebody wants it to wait: its owner ("user"), or somebody who administers it. */
  readonly hold?: { readonly kind: "user" | "admin"; readonly by?: string; readonly since?: string };
}

export interface SubmitResponse {
  readonly id: string;
  readonly state?: AllocationState;
  readonly warnings?: readonly string[];
  readonly log_index?: string;
}

export interface AllocationFilter {
  readonly state?: readonly AllocationState[];
  readonly user?: string;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly node?: string;
  readonly name?: string;
  readonly expand?: boolean;
  readonly group_id?: string;
  readonly project?: string;
  /** key=value, or a key alone. */
  readonly tag?: readonly string[];
  /** RFC 3339: waiting or running at some time from then on, and submitted before then. */
  readonly since?: string;
  readonly until?: string;
  readonly reason_code?: readonly string[];
}

export interface Paging {
  readonly page_size?: number;
  readonly page_token?: string;
}

export interface AllocationPage {
  readonly allocations: readonly Allocation[];
  readonly next_page_token?: string;
  readonly total?: number;
  readonly log_index?: string;
}

export interface CancelResponse {
  readonly id: string;
  readonly state?: AllocationState;
  readonly log_index?: string;
}

export interface AllocationUpdate {
  /** As in a submission: "4h". */
  readonly walltime?: string;
  readonly walltime_seconds?: number;
  readonly preemption_class?: number;
  readonly name?: string;
  /** All of them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Added to those that it has, or put in their place. */
  readonly set_tags?: Readonly<Record<string, string>>;
  readonly remove_tags?: readonly string[];
  /** By itself: whether it is held. */
  readonly hold?: boolean;
  readonly telemetry_mode?: "prod" | "debug" | "audit";
  readonly telemetry_seconds?: number;
  /** The same as the two above. */
  readonly telemetry?: { readonly mode: "prod" | "debug" | "audit"; readonly duration?: string };
  /** Of a service: what its nodes are to run from now on, one after the other. */
  readonly service?: {
    readonly entrypoint?: string;
    readonly command?: readonly string[];
    readonly script?: string;
    readonly environment?: Environment;
    readonly scale_policy?: ScalePolicy;
    /** What it leaves out is the usual. */
    readonly liveness_probe?: LivenessProbe;
    readonly remove_liveness_probe?: boolean;
  };
}

export interface UpdateAllocationResponse {
  readonly allocation: Allocation;
  readonly log_index?: string;
}

export interface WatchFilter {
  readonly allocation_id?: string;
  readonly node?: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly kinds?: readonly string[];
}

export interface WatchEvent {
  readonly cursor: string;
  readonly at?: string;
  readonly kind: string;
  readonly allocation_id?: string;
  readonly attempt?: number;
  readonly node?: string;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly user?: string;
  readonly from?: string;
  readonly to?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface LogsFilter {
  readonly stream?: "stdout" | "stderr";
  readonly node?: string;
  /** Last lines only. */
  readonly tail?: number;
  /** RFC 3339; output written from then on. */
  readonly since?: string;
  readonly until?: string;
  /** In bytes, in each log. */
  readonly offset?: string;
  /** Bytes in all. */
  readonly limit?: number;
  readonly attempt?: number;
}

export interface Capabilities {
  readonly cpu_cores?: number;
  readonly memory_gb?: number;
  readonly gpu_type?: string;
  readonly gpu_count?: number;
  readonly features?: readonly string[];
  readonly hostname?: string;
  readonly kernel?: string;
  readonly isolation?: string;
  readonly hollow?: boolean;
  /** What it can run attempts in and limit them by. */
  readonly runtimes?: readonly string[];
}

export interface Claim {
  readonly allocation_id: string;
  readonly attempt?: number;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly releasing?: boolean;
  readonly exclusive?: boolean;
  /** Its part of a shared node. */
  readonly cpu_cores?: number;
  readonly memory_gb?: number;
  readonly gpu_count?: number;
}

export interface Node {
  readonly id: string;
  readonly state: NodeState;
  readonly cause?: string;
  readonly reason?: string;
  readonly since?: string;
  readonly capabilities?: Capabilities;
  readonly group?: string;
  readonly conformance?: string;
  readonly home_vcluster?: string;
  /** Whose its home vCluster is; empty: everybody's. */
  readonly home_tenant?: string;
  /** What was warned of by whoever watches its hardware, until it is said to be well. */
  readonly hardware_warning?: string;
  /** Whose work is on it; empty when it is idle. */
  readonly current_vcluster?: string;
  readonly claims?: readonly Claim[];
  readonly agent_version?: string;
  readonly last_heartbeat?: string;
  readonly connected?: boolean;
  readonly address?: string;
}

export interface NodeFilter {
  readonly state?: readonly NodeState[];
  readonly vcluster?: string;
  readonly tenant?: string;
  readonly group?: string;
}

export interface NodePage {
  readonly nodes: readonly Node[];
  readonly next_page_token?: string;
  readonly total?: number;
  readonly log_index?: string;
}

export interface NodeResponse {
  readonly node: Node;
  readonly log_index?: string;
}

export interface Quota {
  readonly max_nodes?: number;
  readonly max_concurrent_allocations?: number;
  readonly fair_share_target?: number;
  readonly gpu_hours_budget?: number;
  readonly node_hours_budget?: number;
  /** Named ones at a time; absent: as many as the configuration allows every tenant. */
  readonly max_network_domains?: number;
  readonly burst_allowance?: number;
}

export interface Tenant {
  readonly id: string;
  readonly description?: string;
  readonly quota?: Quota;
  readonly max_preemption_class?: number;
  readonly created_at?: string;
  readonly automatic?: boolean;
  readonly nodes_in_use?: number;
  readonly running_allocations?: number;
  /** What the cluster's administrators have set, where the tenant's own have gone below it. */
  readonly ceiling?: { readonly quota?: Quota; readonly max_preemption_class?: number };
}

/** Limits stand in `quota` or beside it. */
export interface TenantCreate extends Quota {
  readonly id: string;
  readonly description?: string;
  readonly quota?: Quota;
  readonly max_preemption_class?: number;
}

/** Limits stand in `quota` or beside it. */
export interface TenantUpdate extends Quota {
  readonly description?: string;
  readonly quota?: Quota;
  readonly max_preemption_class?: number;
  readonly unset?: readonly string[];
}

export interface TenantPage {
  readonly tenants: readonly Tenant[];
  readonly next_page_token?: string;
  readonly log_index?: string;
}

export interface TenantResponse {
  readonly tenant: Tenant;
  readonly log_index?: string;
}

export type SchedulerType =
  | "hpc_backfill"
  | "hpc_proportional"
  | "ml_training"
  | "service_bin_pack"
  | "interactive_fifo"
  | "sensitive_reservation";

export type Weights = Readonly<Record<string, number>>;

export interface VClusterSettings {
  readonly description?: string;
  readonly weights?: Weights;
  readonly cycle_interval_seconds?: number;
  readonly backfill_depth?: number;
  readonly default_walltime_seconds?: number;
  readonly max_walltime_seconds?: number;
  /** Whether its waiting work may have work of lower classes stopped. */
  readonly preempts?: boolean;
  /** Whether its running work may be stopped: all of it, what sits on borrowed nodes, or none. */
  readonly preemptible?: "always" | "borrowed" | "never";
  readonly borrows?: boolean;
  /** Within so much of its walltime an allocation of it is not stopped for others. */
  readonly near_completion_threshold_seconds?: number;
  /** So many allocations are stopped at most for one of its own that waits. */
  readonly max_victims?: number;
  /** Work that asks for less than a node shares one. */
  readonly shares_nodes?: boolean;
  /** On what terms it lends its idle nodes; absent: it lends nothing. */
  readonly lending?: Lending;
}

export interface Lending {
  readonly enabled?: boolean;
  readonly keep_nodes?: number;
  readonly max_class?: number;
  readonly max_duration_seconds?: number;
  readonly return_grace_seconds?: number;
}

export interface VClusterCreate extends VClusterSettings {
  readonly id: string;
  readonly tenant?: string;
  readonly scheduler?: SchedulerType;
}

export interface VCluster extends VClusterCreate {
  readonly is_default?: boolean;
  readonly created_at?: string;
  readonly pending?: number;
  readonly running?: number;
}

export interface VClusterPage {
  readonly vclusters: readonly VCluster[];
  readonly next_page_token?: string;
  readonly log_index?: string;
}

export interface VClusterResponse {
  readonly vcluster: VCluster;
  readonly log_index?: string;
  /** What was not taken as it was asked for. */
  readonly warnings?: readonly string[];
}
