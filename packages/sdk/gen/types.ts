// Written by tools/generate-sdk.mjs from proto/lattice/v1. Do not edit.

// The JSON of the REST interface: snake_case names, lower-case enums, RFC 3339 instants. 64-bit numbers are strings.

export type AllocationState = "pending" | "staging" | "running" | "checkpointing" | "suspended" | "completed" | "failed" | "cancelled";

export type DagState = "running" | "completed" | "failed" | "cancelled";

export type LifecycleType = "bounded" | "unbounded" | "reactive";

export type LogStream = "stdout" | "stderr";

export type NodeState = "unknown" | "booting" | "ready" | "degraded" | "draining" | "drained" | "down" | "failed";

export type PmiMode = "pmi2" | "pmix" | "none";

export type Preemptible = "always" | "borrowed" | "never";

export type RequeuePolicy = "never" | "on_node_failure" | "always";

export type SchedulerType = "hpc_backfill" | "ml_training" | "service_bin_pack" | "interactive_fifo" | "sensitive_reservation";

export type Topology = "any" | "tight";

export interface Accounting {
  /** Newest first. */
  readonly records: readonly AccountingRecord[];
  readonly next_page_token: string;
  readonly log_index: string;
}

export interface AccountingRecord {
  readonly allocation_id: string;
  readonly name: string;
  readonly user: string;
  readonly tenant: string;
  readonly project: string;
  readonly vcluster: string;
  readonly state: string;
  readonly reason: string;
  readonly exit_code?: number;
  readonly submitted_at?: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  readonly nodes: number;
  /** Number of attempts that ran, including unsuccessful ones. */
  readonly attempts: number;
  readonly elapsed_seconds: number;
  readonly waited_seconds: number;
  /** Sum over all attempts: this and the next field. */
  readonly node_hours: number;
  readonly gpu_hours: number;
  /** Fraction of the requested walltime that was used, 0 to 1. Unset: unbounded. */
  readonly walltime_used?: number;
  readonly tags?: Readonly<Record<string, string>>;
  /** By attempt, oldest first. */
  readonly usage: readonly AttemptUsage[];
}

export interface AddGrantRequest {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly role?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface AddMemberRequest {
  /** The server's id in its configuration. */
  readonly id?: string | undefined;
  /** Peer address (host:port) of its etcd member. */
  readonly peer_address?: string | undefined;
  /** Not compared: adding an existing server changes nothing. */
  readonly request_id?: string | undefined;
  /** Removes the member of this server first, if it has one that does not answer: its data is lost. */
  readonly replace?: boolean | undefined;
  /** The cluster that the server belongs to already. Empty: none. A server of another cluster is refused. */
  readonly cluster_id?: string | undefined;
  readonly cluster_generation?: number | undefined;
}

export interface Allocation {
  readonly id: string;
  readonly state: AllocationState;
  readonly spec?: AllocationSpec;
  readonly user: string;
  readonly submitted_at?: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Nodes of the current or last attempt. */
  readonly nodes: readonly string[];
  readonly attempt: number;
  readonly requeues: number;
  readonly exit_code?: number;
  /** Why the allocation failed, was cancelled or was requeued, for example "walltime_exceeded". */
  readonly reason: string;
  readonly message: string;
  /** Why the allocation is pending, as text. */
  readonly pending_reasons: readonly string[];
  readonly estimated_start?: string;
  /** True: estimated_start is a reservation that later arrivals cannot delay. False: it is an estimate. */
  readonly start_reserved: boolean;
  readonly progress: readonly NodeProgress[];
  readonly backfilled: boolean;
  /** Score terms of the committed placement, in thousandths. */
  readonly scores?: Readonly<Record<string, number>>;
  readonly log_index: string;
  /** Number of preemptions. Not counted in requeues. */
  readonly preemptions: number;
  /** The latest and the current checkpoint. Unset: none was requested. */
  readonly checkpoint?: CheckpointStatus;
  /** Number of suspensions other than preemptions. */
  readonly suspensions: number;
  /** Status of the elements, for a task group. */
  readonly group?: TaskGroupStatus;
  /** The DAG this allocation is a member of. */
  readonly dag_id: string;
  /** Dependencies that are not met yet. The allocation is not queued before they are. */
  readonly unmet_dependencies: readonly Dependency[];
  /** One code per entry of pending_reasons: busy, quota_nodes, dependency and so on. */
  readonly pending_reason_codes: readonly string[];
  /** Set for a service that scales or is being updated. */
  readonly scaling?: ScalingStatus;
  readonly network?: NetworkStatus;
  /** Topology groups of its nodes, without duplicates. */
  readonly topology_groups: readonly string[];
  /** For a service: number of nodes added while it ran. Each has its own attempt number and is not a restart. */
  readonly nodes_joined: number;
  /** Set while the allocation is held. */
  readonly hold?: HoldStatus;
  /** Resources used by its attempts, oldest first. An attempt appears when a node has reported its end. */
  readonly usage: readonly AttemptUsage[];
  /** The user who cancelled it. Empty: not cancelled, or cancelled by the cluster. */
  readonly cancelled_by: string;
}

export interface AllocationEvent {
  /** "index:n": log index of the entry, and the event's number within it. Increases from event to event. */
  readonly cursor: string;
  readonly at?: string;
  /** state, decision, failure, scaling or preemption. */
  readonly type: string;
  /** Machine-readable kind: submitted, placed, started, requeued, preempted, scaled_up, completed, ... */
  readonly kind: string;
  /** One sentence for people. */
  readonly text: string;
  readonly attempt: number;
  readonly nodes: readonly string[];
  /** Score terms of a placement, in thousandths. */
  readonly scores?: Readonly<Record<string, number>>;
  /** Reason of a failure: "exit_code", "node_failure", ... */
  readonly reason: string;
  readonly exit_code?: number;
}

export interface AllocationSpec {
  readonly tenant?: string;
  readonly project?: string;
  readonly vcluster?: string;
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Kind of work, for example train, serve or interactive. Selects the vCluster when none is named. */
  readonly intent?: string;
  readonly environment?: Environment;
  /** Command line, run by /bin/sh -c. Set exactly one of entrypoint, command and script. */
  readonly entrypoint?: string;
  /** Argument vector, run without a shell. */
  readonly command?: readonly string[];
  /** Script text, run by the interpreter of its first line. */
  readonly script?: string;
  readonly resources?: Resources;
  readonly lifecycle?: Lifecycle;
  readonly data?: Data;
  readonly connectivity?: Connectivity;
  /** Dependencies that must be met before the allocation is queued. */
  readonly depends_on?: readonly Dependency[];
  readonly checkpoint?: Checkpoint;
  readonly telemetry?: Telemetry;
  readonly liveness_probe?: LivenessProbe;
  readonly sensitive?: boolean;
  /** Also sets SLURM_* variables. The Slurm-compatible commands set this. */
  readonly slurm_env?: boolean;
  /** Makes this a task group (job array): one allocation per index. */
  readonly task_group?: TaskGroup;
  /** Files on the node that also receive the output. */
  readonly output?: OutputFiles;
}

export interface AssignNodeRequest {
  readonly id?: string | undefined;
  /** Empty: the node serves all vClusters. */
  readonly vcluster?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface AttemptUsage {
  readonly attempt: number;
  /** Number of nodes that have reported. */
  readonly nodes: number;
  /** Over all of these nodes: sums, and the highest value for peaks. */
  readonly total?: UsedResources;
  /** The node with the peak memory. */
  readonly peak_memory_node: string;
  /** The first 16 nodes. */
  readonly by_node: readonly NodeUsage[];
}

/** A public key of the audit log, with the records that it signs. */
export interface AuditKey {
  /** The first half of the SHA-256 of the public key in base64, hexadecimal. */
  readonly key_id: string;
  /** Ed25519, PEM. */
  readonly public_key: string;
  readonly first_record: string;
  /** Empty for the current key. */
  readonly last_record: string;
  readonly since?: string;
  /** Signature of the previous key over this one, base64. Empty for the first key and for the successor of a lost key. */
  readonly endorsement: string;
}

export interface AuditRecord {
  /** Starts at 1, without gaps. */
  readonly number: string;
  readonly log_index: string;
  readonly at?: string;
  readonly user: string;
  /** For example "grant.add". */
  readonly event_type: string;
  /** access, tenants, nodes, work, cluster or sensitive. */
  readonly scope: string;
  readonly detail: string;
  readonly tenant: string;
  readonly allocation_id: string;
  readonly node: string;
  readonly data_path: string;
  /** Hash of the previous record. Empty for the first. */
  readonly previous_hash: string;
  /** SHA-256 over all fields above, hexadecimal. */
  readonly hash: string;
  /** Ed25519 signature over "lattice audit record " and the hash, base64. Empty until the leader has signed the record. */
  readonly signature: string;
  /** The key of the signature. */
  readonly key_id: string;
}

export interface Backup {
  /** A path on the server, or s3://bucket/key. */
  readonly source: string;
  readonly created_at?: string;
  readonly log_index: string;
  readonly term: string;
  readonly state_hash: string;
  /** Checksum of the whole file. */
  readonly sha256: string;
  readonly bytes: number;
  readonly allocations: number;
  readonly nodes: number;
  readonly history_records: number;
  readonly server_version: string;
  readonly format: number;
  /** Audit records in addition to those in the state. */
  readonly audit_records: number;
  /** The identity of the cluster that wrote it. */
  readonly cluster_id: string;
}

export interface BackupCheck {
  /** checksum, metadata, records, state_hash, history or audit. */
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Budget {
  /** gpu_hours or node_hours. */
  readonly kind: string;
  readonly period_days: number;
  readonly hours: number;
  readonly used_hours: number;
  /** Never negative. */
  readonly remaining_hours: number;
  readonly percent: number;
}

export interface CacheResponse {
  readonly nodes: readonly NodeCache[];
}

export interface CachedImage {
  readonly name: string;
  readonly digest: string;
  /** uenv or oci. */
  readonly kind: string;
  readonly size_bytes: number;
  readonly last_used?: string;
  readonly sticky: boolean;
  /** Number of attempts that use the image now. */
  readonly pins: number;
  /** Other names it was requested by, oldest first. */
  readonly other_names: readonly string[];
}

export interface CancelDagRequest {
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface CancelDagResponse {
  readonly id: string;
  readonly state: DagState;
  readonly log_index: string;
}

export interface CancelRequest {
  /** Id of an allocation, a task group, an element ("12_7") or several elements ("12_[3-9,20]"). */
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface CancelResponse {
  readonly id: string;
  readonly state: AllocationState;
  readonly log_index: string;
}

export interface Capabilities {
  readonly cpu_cores: number;
  readonly memory_gb: number;
  readonly gpu_type: string;
  readonly gpu_count: number;
  readonly features: readonly string[];
  readonly hostname: string;
  readonly kernel: string;
  /** cgroup2, cgroup1 or process_group. */
  readonly isolation: string;
  readonly hollow: boolean;
  /** Runtimes and limits the node supports: bare, uenv, podman, numactl, limit:memory and so on. */
  readonly runtimes: readonly string[];
  /** Memory behind CXL expanders, in addition to memory_gb. */
  readonly cxl_memory_gb: number;
  /** Power draw under load. 0: unknown. */
  readonly power_watts: number;
  readonly gpu_topology?: GpuTopology;
  readonly memory_topology?: MemoryTopology;
}

export interface Cause {
  /** quota_nodes, quota_allocations, no_matching_nodes, busy, reserved, power, storage, topology, priority, ... */
  readonly code: string;
  readonly text: string;
}

export interface Checkpoint {
  /** auto: the broker decides, and before preemption. manual: on request and before preemption. none: never. A mode name means auto with that mode. */
  readonly strategy?: string;
  /** How the program is notified: signal, shmem, grpc or dmtcp. Default: signal. */
  readonly mode?: string;
  /** Port of the program's callback for grpc. 0: the program writes its address to the file LATTICE_CHECKPOINT_ENDPOINT. */
  readonly port?: number;
  /** Default: 600. */
  readonly timeout_seconds?: number;
  /** Text form of timeout_seconds, for example "4h". */
  readonly timeout?: string;
  /** Maximum time the program may defer a checkpoint. Default: 300. */
  readonly max_deferral_seconds?: number;
  /** Text form of max_deferral_seconds, for example "4h". */
  readonly max_deferral?: string;
}

/** The broker's cost model: whether a checkpoint pays now. Amounts are in seconds of one GPU, or of one node without GPUs. */
export interface CheckpointDecision {
  /** take, wait, busy, storage_away, not_asked or not_running. */
  readonly verdict: string;
  readonly reason: string;
  readonly value: number;
  readonly cost: number;
  readonly recompute_saved: number;
  readonly preemptability: number;
  readonly backlog_relief: number;
  readonly walltime_risk: number;
  readonly write_time: number;
  readonly compute_waste: number;
  readonly storage_cost: number;
  /** Inputs of the model: this and the following fields. */
  readonly size_bytes: number;
  readonly since_last_seconds: number;
  readonly failure_probability: number;
  readonly devices: number;
  readonly evaluated_at?: string;
}

export interface CheckpointRequest {
  readonly id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface CheckpointStatus {
  /** How the program is notified: signal, shmem, grpc or dmtcp. */
  readonly mode: string;
  /** Number of checkpoints requested so far. */
  readonly requested: number;
  /** Number of checkpoints completed so far. */
  readonly completed: number;
  /** The latest completed checkpoint. The next attempt resumes from it. */
  readonly last?: CompletedCheckpoint;
  /** The latest failed checkpoint, unless a later one completed. */
  readonly failure?: FailedCheckpoint;
  /** The checkpoint in progress. */
  readonly current?: RunningCheckpoint;
  /** The broker's latest decision. Set for strategy auto only. */
  readonly decision?: CheckpointDecision;
  readonly id: string;
  readonly log_index: string;
}

export interface Claim {
  readonly allocation_id: string;
  readonly attempt: number;
  readonly tenant: string;
  readonly vcluster: string;
  readonly releasing: boolean;
  readonly exclusive: boolean;
  /** Share of a shared node: this and the following fields. */
  readonly cpu_cores: number;
  readonly memory_gb: number;
  readonly gpu_count: number;
}

export interface ClusterStatus {
  readonly engine: string;
  readonly term: string;
  readonly leader: string;
  readonly is_leader: boolean;
  readonly last_index: string;
  readonly applied_index: string;
  readonly snapshot_index: string;
  readonly state_hash: string;
  readonly members: readonly Member[];
  readonly log_bytes: number;
  readonly writable: boolean;
  /** Why writes are rejected, if they are. */
  readonly unwritable_reason: string;
  /** The identity of the cluster, for clients that name it. */
  readonly cluster_id: string;
}

export interface CompareRequest {
  /** Two to ten allocations. */
  readonly ids?: readonly string[] | undefined;
  readonly metrics?: readonly string[] | undefined;
  /** relative: seconds since each start. absolute: wall-clock time. Default: relative. */
  readonly align?: string | undefined;
}

export interface ComparedAllocation {
  readonly allocation_id: string;
  readonly name: string;
  readonly state: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  readonly elapsed_seconds: number;
  readonly nodes: number;
  readonly gpus: number;
  readonly attempt: number;
  readonly series: readonly MetricSeries[];
}

export interface Comparison {
  readonly align: string;
  readonly allocations: readonly ComparedAllocation[];
  readonly unavailable_reason: string;
}

export interface CompletedCheckpoint {
  readonly number: number;
  readonly attempt: number;
  readonly at?: string;
  readonly bytes: number;
  readonly seconds: number;
  /** user, broker, preempted, drained or walltime. */
  readonly cause: string;
}

export interface ConfigResponse {
  readonly settings: readonly Setting[];
  readonly log_index: string;
}

export interface Connectivity {
  readonly network_domain?: string;
  readonly expose?: readonly ExposedPort[];
}

export interface ConstraintFailure {
  /** A constraint, for example "gpu_type" or "features nvme", or a node state, for example "drained". */
  readonly constraint: string;
  readonly nodes: number;
}

export interface Constraints {
  readonly gpu_type?: string;
  readonly gpu_count?: number;
  readonly memory_gb?: number;
  readonly features?: readonly string[];
  readonly topology?: Topology;
  readonly required_nodes?: readonly string[];
  readonly excluded_nodes?: readonly string[];
  readonly cpu_cores?: number;
  readonly require_conformance?: boolean;
  readonly require_unified_memory?: boolean;
  readonly prefer_same_numa?: boolean;
  readonly allow_cxl_memory?: boolean;
  /** Maximum number of topology groups the allocation may span. 0: no limit. */
  readonly max_groups?: number;
  /** NUMA policy: local, interleave, preferred or bind. Empty: the node's default. */
  readonly memory_policy?: string;
  /** Storage bandwidth in MB/s that the whole allocation uses while it runs. 0: negligible. */
  readonly storage_mb_per_second?: number;
}

export interface ControlLaunchRequest {
  readonly allocation_id?: string | undefined;
  readonly launch_id?: string | undefined;
  /** By node of the layout: the caller has received everything up to this number. */
  readonly acknowledged?: readonly number[] | undefined;
  /** Ends the tasks. */
  readonly end?: boolean | undefined;
  /** The caller has received everything, or gives up together with `end`; it will not reconnect. */
  readonly finished?: boolean | undefined;
}

export interface ControlLaunchResponse {
}

export interface CreateBackupRequest {
  /** A directory or s3://bucket/prefix. Empty: the configured destination. */
  readonly destination?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface CreateEnrolmentRequest {
  /** 1 to 10,000. */
  readonly max_nodes?: number | undefined;
  /** Default: one day. Maximum: 90 days. */
  readonly valid_seconds?: number | undefined;
  /** Text form of valid_seconds, for example "4h". */
  readonly valid?: string | undefined;
  /** At most 16 networks in CIDR notation, or single addresses. Empty: all. */
  readonly networks?: readonly string[] | undefined;
  readonly request_id?: string | undefined;
}

export interface CreateEnrolmentResponse {
  readonly enrolment?: Enrolment;
  /** The token for agents (LATTICE_AGENT_TOKEN). The cluster stores its hash only. */
  readonly token: string;
  readonly log_index: string;
}

export interface CreateSessionRequest {
  /** A running allocation to open the session on. Excludes allocation. */
  readonly allocation_id?: string | undefined;
  /** A new allocation. It needs a walltime and no program. */
  readonly allocation?: AllocationSpec | undefined;
  readonly request_id?: string | undefined;
}

export interface CreateSessionResponse {
  readonly session_id: string;
  readonly allocation_id: string;
  readonly state: AllocationState;
  readonly warnings: readonly string[];
  readonly log_index: string;
}

export interface CreateTenantRequest {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly quota?: Quota | undefined;
  readonly max_preemption_class?: number | undefined;
  readonly request_id?: string | undefined;
}

export interface CreateVClusterRequest {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly tenant?: string | undefined;
  readonly scheduler?: SchedulerType | undefined;
  readonly weights?: Weights | undefined;
  readonly cycle_interval_seconds?: number | undefined;
  /** Text form of cycle_interval_seconds, for example "4h". */
  readonly cycle_interval?: string | undefined;
  readonly backfill_depth?: number | undefined;
  readonly default_walltime_seconds?: number | undefined;
  /** Text form of default_walltime_seconds, for example "4h". */
  readonly default_walltime?: string | undefined;
  readonly max_walltime_seconds?: number | undefined;
  /** Text form of max_walltime_seconds, for example "4h". */
  readonly max_walltime?: string | undefined;
  readonly request_id?: string | undefined;
  readonly preempts?: boolean | undefined;
  readonly preemptible?: Preemptible | undefined;
  readonly borrows?: boolean | undefined;
  readonly lending?: Lending | undefined;
  /** Default: 300. */
  readonly near_completion_threshold_seconds?: number | undefined;
  /** Text form of near_completion_threshold_seconds, for example "4h". */
  readonly near_completion_threshold?: string | undefined;
  readonly shares_nodes?: boolean | undefined;
  /** Default: 3. Maximum: 64. */
  readonly max_victims?: number | undefined;
}

export interface Dag {
  readonly id: string;
  readonly name: string;
  readonly state: DagState;
  readonly user: string;
  readonly tenant: string;
  readonly submitted_at?: string;
  readonly ended_at?: string;
  /** In topological order. Omitted in lists. */
  readonly members: readonly DagMember[];
  readonly size: number;
  /** Number of finished members. */
  readonly ended: number;
  readonly log_index: string;
}

export interface DagGraph {
  readonly id: string;
  readonly nodes: readonly DagGraphNode[];
  readonly edges: readonly DagGraphEdge[];
}

export interface DagGraphEdge {
  /** The member that is waited for. */
  readonly from: string;
  /** The member that waits. */
  readonly to: string;
  readonly condition: string;
}

export interface DagGraphNode {
  readonly name: string;
  readonly allocation_id: string;
  readonly state: AllocationState;
}

export interface DagMember {
  readonly name: string;
  readonly allocation_id: string;
  readonly state: AllocationState;
  /** Why it failed or was cancelled: "dependency_failed" if it was skipped. */
  readonly reason: string;
  /** By member names. */
  readonly depends_on: readonly Dependency[];
  /** Set for a member that is a task group and has not been archived. */
  readonly group?: TaskGroupStatus;
}

export interface Data {
  readonly mounts?: readonly Mount[];
  /** Requires the site's home, scratch, output and checkpoint directories. Nodes without one of them are not used. */
  readonly defaults?: boolean;
  /** Destination of results: a path visible on every node, file:// or s3://. {user}, {tenant}, {project} and {allocation_id} are substituted. Programs read it from LATTICE_OUTPUT. */
  readonly output?: string;
  /** Scratch space that must be free on each node, for example 500GB. */
  readonly scratch_per_node?: string;
}

export interface DayUsage {
  readonly day: string;
  readonly node_hours: number;
  readonly gpu_hours: number;
}

export interface DeleteResponse {
  readonly id: string;
  readonly log_index: string;
}

export interface DeleteSessionRequest {
  readonly id?: string | undefined;
  /** Exit code of the shell, if there was one. */
  readonly exit_code?: number | undefined;
  readonly request_id?: string | undefined;
  /** A non-zero exit code makes the allocation fail. For sessions that ran work (salloc), not an interactive shell. */
  readonly fail_on_nonzero_exit?: boolean | undefined;
}

export interface DeleteSessionResponse {
  readonly id: string;
  readonly allocation_id: string;
  readonly state: AllocationState;
  readonly log_index: string;
}

export interface DeleteTenantRequest {
  readonly id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface DeleteVClusterRequest {
  readonly id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface Dependency {
  /** Id of an allocation, task group or element of the same tenant; in a DAG, the name of a member; for mutex, a lock name. */
  readonly ref?: string;
  /** success, failure, any, corresponding or mutex. Default: success. */
  readonly condition?: string;
}

export interface Diagnostics {
  readonly allocation_id: string;
  readonly state: string;
  readonly network?: NetworkDiagnostics;
  readonly storage?: StorageDiagnostics;
  readonly gpus?: GpuDiagnostics;
  readonly nodes: readonly NodeDiagnostics[];
  /** Values that are not measured on this cluster. */
  readonly unmeasured: readonly Unmeasured[];
}

export interface DiagnosticsRequest {
  readonly id?: string | undefined;
  /** network, storage, gpus or nodes. Empty: all. */
  readonly section?: string | undefined;
}

export interface DisableNodeRequest {
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface DiskCondition {
  readonly name: string;
  readonly model: string;
  readonly size_gb: number;
  readonly firmware: string;
}

export interface DrainNodeRequest {
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  readonly request_id?: string | undefined;
  /** Checkpoints and requeues running work where possible; other work runs to its end. */
  readonly urgent?: boolean | undefined;
}

export interface Enrolment {
  readonly enrolment_id: string;
  /** Number of nodes that may use the token. */
  readonly max_nodes: number;
  /** Nodes that used it, in order. */
  readonly nodes: readonly string[];
  /** Networks from which nodes may use it, such as 10.1.0.0/16. Empty: all. */
  readonly networks: readonly string[];
  readonly valid_until?: string;
  readonly created_by: string;
  readonly created_at?: string;
  /** open, used_up or expired. */
  readonly state: string;
}

export interface EnrolmentResponse {
  /** The enrolment before its removal. */
  readonly enrolment: Enrolment;
  readonly log_index: string;
}

export interface Environment {
  readonly uenv?: string;
  readonly view?: string;
  readonly image?: string;
  readonly tools_uenv?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** For an image: mounts the root file system read-only. Mounts and scratch stay writable. */
  readonly read_only?: boolean;
  /** Requires every image to carry a signature that the node trusts. */
  readonly sign_required?: boolean;
}

export interface EtcdMember {
  /** Hexadecimal, as etcd's own tools print it. */
  readonly id: string;
  /** Empty: added but never started. */
  readonly name: string;
  readonly peer_address: string;
  readonly client_address: string;
  readonly healthy: boolean;
  /** Leader of etcd, which may differ from the leader of Lattice. */
  readonly leader: boolean;
  readonly version: string;
  readonly database_bytes: number;
  readonly raft_term: string;
  readonly raft_index: string;
  /** Copies the log and has no vote yet; it becomes a full member by itself. */
  readonly learner: boolean;
}

export interface EvictImageRequest {
  readonly image?: string | undefined;
  readonly nodes?: readonly string[] | undefined;
  readonly group?: string | undefined;
  /** Not compared: a node without the image does nothing. */
  readonly request_id?: string | undefined;
}

export interface ExplainRequest {
  readonly id?: string | undefined;
}

export interface Explanation {
  readonly id: string;
  /** State of the allocation, for example "pending". */
  readonly state: string;
  readonly vcluster: string;
  readonly tenant: string;
  readonly user: string;
  /** The main cause in one sentence. */
  readonly summary: string;
  /** When the leader evaluated the allocation. Unset once it has started. */
  readonly evaluated_at?: string;
  /** All causes, most important first. */
  readonly causes: readonly Cause[];
  readonly nodes?: NodeCounts;
  readonly queue?: QueuePosition;
  /** Quotas, budgets and fair share of its tenant, as text. */
  readonly tenant_limits: readonly string[];
  /** Changes that would start it sooner, each verified by the scheduler. */
  readonly suggestions: readonly Suggestion[];
  readonly estimated_start?: string;
  /** Median error of recent start estimates. */
  readonly estimate_error_seconds?: number;
  /** Where and when it was started, and with what score. */
  readonly placement?: PlacementSummary;
  readonly log_index: string;
  /** Allocations being preempted for it that still occupy its nodes. */
  readonly victims: readonly PreemptionVictim[];
  /** True: estimated_start is a reservation that later arrivals cannot delay. False: it is an estimate. */
  readonly start_reserved: boolean;
}

export interface ExposedPort {
  readonly name?: string;
  readonly port?: number;
  /** Protocol shown to service discovery: tcp, udp, http, https or grpc. Empty: unspecified. */
  readonly protocol?: string;
}

export interface FailedCheckpoint {
  readonly number: number;
  readonly at?: string;
  readonly message: string;
}

export interface GetAccountingRequest {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly vcluster?: string | undefined;
  readonly project?: string | undefined;
  /** completed, failed or cancelled. Empty: all. */
  readonly state?: readonly string[] | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface GetAllocationRequest {
  readonly id?: string | undefined;
}

export interface GetCacheRequest {
  readonly nodes?: readonly string[] | undefined;
  readonly group?: string | undefined;
}

export interface GetCheckpointRequest {
  readonly id?: string | undefined;
}

export interface GetClusterStatusRequest {
}

export interface GetConfigRequest {
  /** A configuration key or a prefix, for example scheduling. Empty: all. */
  readonly key?: string | undefined;
}

export interface GetDagGraphRequest {
  readonly id?: string | undefined;
}

export interface GetDagRequest {
  readonly id?: string | undefined;
}

export interface GetDomainRequest {
  readonly name?: string | undefined;
  /** Empty: the caller's tenant. */
  readonly tenant?: string | undefined;
}

export interface GetNodeConditionRequest {
  readonly id?: string | undefined;
  /** Inspects the machine again instead of returning the last result. */
  readonly fresh?: boolean | undefined;
}

export interface GetNodeRequest {
  readonly id?: string | undefined;
}

export interface GetQueueRequest {
  readonly id?: string | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface GetSchedulerStatusRequest {
  /** Empty: all vClusters. */
  readonly vcluster?: string | undefined;
}

export interface GetServerMetricsRequest {
  /** scheduler, api, raft, nodes, allocations or process. Empty: all. */
  readonly component?: string | undefined;
  /** Length of the window up to now. 0: current values only. */
  readonly duration_seconds?: number | undefined;
  /** Text form of duration_seconds, for example "4h". */
  readonly duration?: string | undefined;
}

export interface GetSessionRequest {
  readonly id?: string | undefined;
}

export interface GetSignalsRequest {
}

export interface GetTenantRequest {
  readonly id?: string | undefined;
}

export interface GetTenantUsageRequest {
  readonly id?: string | undefined;
  /** Restricts the result to this user. */
  readonly user?: string | undefined;
  /** Number of days up to and including today. Unset: the budget period. */
  readonly days?: number | undefined;
  /** Instead of days: first and last day (UTC), as 2026-03-01 or an instant within the day. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface GetUserUsageRequest {
  /** Empty: the caller. */
  readonly user?: string | undefined;
  /** Empty: the caller's tenant, or every tenant visible to the caller. */
  readonly tenant?: string | undefined;
  readonly days?: number | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface GetVClusterRequest {
  readonly id?: string | undefined;
}

export interface GpuCondition {
  readonly index: number;
  readonly vendor: string;
  readonly model: string;
  readonly uuid: string;
  readonly memory_gb: number;
  /** PCI address. */
  readonly pci: string;
  /** True for a slice of a partitioned GPU. */
  readonly partitioned: boolean;
  /** Compute capability or architecture. */
  readonly capability: string;
  readonly firmware: string;
  readonly temperature_c?: number;
  readonly fault: string;
  /** Nearest network adapter. */
  readonly nic: string;
}

export interface GpuDevice {
  readonly index: number;
  /** nvidia or amd. */
  readonly vendor: string;
  readonly model: string;
  readonly memory_gb: number;
  /** True for a slice of a partitioned GPU. */
  readonly partitioned: boolean;
}

export interface GpuDiagnostics {
  readonly type: string;
  /** GPUs on all of its nodes. */
  readonly count: number;
  /** GPUs that have a link faster than PCIe to another GPU of the same node. */
  readonly linked: number;
}

export interface GpuLink {
  readonly a: number;
  readonly b: number;
  /** nvlink, nvswitch, infinity_fabric, xgmi or pcie. */
  readonly kind: string;
  readonly bandwidth_mbps: number;
}

/** Links between the GPUs of a node. */
export interface GpuTopology {
  readonly gpus: readonly GpuDevice[];
  readonly links: readonly GpuLink[];
  /** GPU index to the name of the nearest NIC. */
  readonly nic_affinity?: Readonly<Record<string, string>>;
}

export interface Grant {
  readonly tenant: string;
  readonly user: string;
  /** tenant_admin or claiming_user. */
  readonly role: string;
  readonly granted_by: string;
  readonly granted_at?: string;
}

export interface GrantResponse {
  /** The grant after the change, or before its removal. */
  readonly grant: Grant;
  readonly log_index: string;
}

export interface GroupDiagnostics {
  readonly group: string;
  readonly nodes: number;
  /** 0 to 1, from the scheduler's signals. Unset: not reported. */
  readonly congestion?: number;
}

export interface HoldStatus {
  /** user: the owner can release it. admin: only an administrator can. */
  readonly kind: string;
  /** User who set the hold. Empty: unknown. */
  readonly by: string;
  readonly since?: string;
}

export interface Image {
  /** For example "prgenv-gnu/24.11:v1". */
  readonly name: string;
  /** "sha256:" and 64 hexadecimal digits. */
  readonly digest: string;
  readonly size_bytes: number;
  readonly mount: string;
  readonly views: readonly ImageView[];
  readonly signed: boolean;
  readonly description: string;
}

export interface ImageView {
  readonly name: string;
  readonly description: string;
}

export interface InspectImageRequest {
  readonly image?: string | undefined;
  readonly node?: string | undefined;
}

export interface LaunchEnd {
  /** 0 if every task exited with 0, otherwise the exit code of the task that failed first. */
  readonly exit_code: number;
  /** Empty on success. */
  readonly reason: string;
}

export interface LaunchResume {
  /** Empty: the caller waits for the launch of the first node. */
  readonly launch_id: string;
  /** By node of the layout: number of the latest event received. */
  readonly positions: readonly number[];
  /** As in LaunchStarted. */
  readonly call: number;
}

export interface LaunchStarted {
  readonly launch_id: string;
  readonly layout: readonly NodeTasks[];
  /** Ordinal among the launches of the job script, from 0. */
  readonly call: number;
  /** API addresses of the cluster's servers, for reconnecting. */
  readonly servers: readonly string[];
}

export interface LaunchTasksRequest {
  readonly allocation_id?: string | undefined;
  /** Default: tasks_per_node on every node. */
  readonly tasks?: number | undefined;
  /** Default: tasks are distributed evenly. */
  readonly tasks_per_node?: number | undefined;
  readonly command?: readonly string[] | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Default: the working directory of the allocation. */
  readonly workdir?: string | undefined;
  readonly pmi?: PmiMode | undefined;
  /** Nodes of the allocation to use. Empty: all. */
  readonly nodes?: readonly string[] | undefined;
  /** Gives the first task a terminal. */
  readonly pty?: boolean | undefined;
  /** Connects SendTaskInput to the standard input of the first task. Otherwise it is empty. */
  readonly input?: boolean | undefined;
  readonly rows?: number | undefined;
  readonly columns?: number | undefined;
  /** Maximum time for all ranks to enter a fence. Default: 60. */
  readonly fence_timeout_seconds?: number | undefined;
  /** Text form of fence_timeout_seconds, for example "4h". */
  readonly fence_timeout?: string | undefined;
  /** Node of the calling job script, which runs on every node. The calls of all nodes form one launch: the first node receives the output, the others only the end. */
  readonly caller_node?: string | undefined;
  readonly caller_attempt?: number | undefined;
  /** The caller acknowledges output with ControlLaunch and reconnects if it loses its server. Nodes keep output until it is acknowledged. */
  readonly resumable?: boolean | undefined;
  /** Reconnects to a launch instead of starting one. Only the allocation and the caller fields are used with it. */
  readonly resume?: LaunchResume | undefined;
}

export interface LaunchTasksResponse {
  readonly started?: LaunchStarted;
  readonly output?: TaskOutput;
  readonly task_end?: TaskEnd;
  /** The last message. */
  readonly end?: LaunchEnd;
  /** Index in the layout of the node that an output or task end comes from, and its increasing number on that node. A task end may be repeated after a reconnect. */
  readonly node_index: number;
  readonly number: number;
}

/** Terms on which idle home nodes are lent to other vClusters. */
export interface Lending {
  /** False: lends nothing. Default in requests: true. */
  readonly enabled?: boolean;
  /** Number of home nodes that are never lent. */
  readonly keep_nodes?: number;
  /** Highest preemption class that may borrow. Default: 4. */
  readonly max_class?: number;
  /** Longest walltime that may borrow. 0: no limit. */
  readonly max_duration_seconds?: number;
  /** Text form of max_duration_seconds, for example "4h". */
  readonly max_duration?: string;
  /** Time between SIGTERM and SIGKILL when a lent node is reclaimed. Default: 30. */
  readonly return_grace_seconds?: number;
  /** Text form of return_grace_seconds, for example "4h". */
  readonly return_grace?: string;
}

export interface Lifecycle {
  readonly type?: LifecycleType;
  readonly walltime_seconds?: number;
  /** Text form of walltime_seconds, for example "4h". */
  readonly walltime?: string;
  readonly preemption_class?: number;
  readonly requeue_policy?: RequeuePolicy;
  readonly max_requeue?: number;
  readonly scale_policy?: ScalePolicy;
  /** Excludes the allocation from preemption. */
  readonly no_preempt?: boolean;
}

export interface ListAllocationsRequest {
  readonly state?: readonly AllocationState[] | undefined;
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
  readonly vcluster?: string | undefined;
  readonly node?: string | undefined;
  readonly name?: string | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
  /** Lists the elements of task groups instead of the groups. */
  readonly expand?: boolean | undefined;
  /** Restricts the list to elements of this group. Requires expand. */
  readonly group_id?: string | undefined;
  /** key=value, or a key alone for any value. All entries must match. */
  readonly tag?: readonly string[] | undefined;
  /** Pending or running at some time after this instant. */
  readonly since?: string | undefined;
  /** Submitted before this instant. */
  readonly until?: string | undefined;
  readonly project?: string | undefined;
  /** Pending for one of these reasons, for example busy. */
  readonly reason_code?: readonly string[] | undefined;
}

export interface ListAllocationsResponse {
  readonly allocations: readonly Allocation[];
  readonly next_page_token: string;
  readonly total: number;
  readonly log_index: string;
}

export interface ListBackupsRequest {
  readonly destination?: string | undefined;
}

export interface ListBackupsResponse {
  readonly backups: readonly Backup[];
}

export interface ListDagsRequest {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly state?: readonly DagState[] | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface ListDagsResponse {
  readonly dags: readonly Dag[];
  readonly next_page_token: string;
  readonly total: number;
  readonly log_index: string;
}

export interface ListDomainsRequest {
  readonly tenant?: string | undefined;
}

export interface ListDomainsResponse {
  readonly domains: readonly NetworkDomain[];
  readonly vni_pool_start: number;
  readonly vni_pool_end: number;
  readonly vnis_used: number;
  readonly max_domains_per_tenant: number;
  readonly log_index: string;
}

export interface ListEnrolmentsRequest {
}

export interface ListEnrolmentsResponse {
  readonly enrolments: readonly Enrolment[];
  readonly log_index: string;
}

export interface ListEventsRequest {
  readonly id?: string | undefined;
  /** Cursor of the last event received; only later events are returned. Fails with cursor_gone (410) if some of them are no longer stored. */
  readonly cursor?: string | undefined;
  /** state, decision, failure, scaling, preemption. Empty: all. */
  readonly types?: readonly string[] | undefined;
}

export interface ListEventsResponse {
  readonly id: string;
  readonly events: readonly AllocationEvent[];
  /** Number of events that are no longer stored. */
  readonly omitted: number;
  readonly log_index: string;
}

export interface ListGrantsRequest {
  /** Empty: every tenant visible to the caller. */
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface ListGrantsResponse {
  readonly grants: readonly Grant[];
  readonly next_page_token: string;
  readonly log_index: string;
}

export interface ListImagesRequest {
  /** Substring of the name. */
  readonly filter?: string | undefined;
  /** Node to query. Empty: any connected node. */
  readonly node?: string | undefined;
}

export interface ListImagesResponse {
  readonly images: readonly Image[];
  /** Node that answered. */
  readonly node: string;
}

export interface ListNodesRequest {
  readonly state?: readonly NodeState[] | undefined;
  readonly vcluster?: string | undefined;
  /** Nodes that run work of this tenant or belong to one of its vClusters. */
  readonly tenant?: string | undefined;
  readonly group?: string | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface ListNodesResponse {
  readonly nodes: readonly Node[];
  readonly next_page_token: string;
  readonly total: number;
  readonly log_index: string;
}

export interface ListNoticesRequest {
  /** Includes cleared notices. */
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

export interface ListNoticesResponse {
  /** Newest first. */
  readonly notices: readonly Notice[];
  readonly log_index: string;
}

export interface ListServicesRequest {
  readonly tenant?: string | undefined;
}

export interface ListServicesResponse {
  readonly services: readonly ServiceSummary[];
}

export interface ListSessionsRequest {
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface ListSessionsResponse {
  readonly sessions: readonly Session[];
  readonly next_page_token: string;
  readonly total: number;
}

export interface ListTenantsRequest {
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface ListTenantsResponse {
  readonly tenants: readonly Tenant[];
  readonly next_page_token: string;
  readonly log_index: string;
}

export interface ListVClustersRequest {
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface ListVClustersResponse {
  readonly vclusters: readonly VCluster[];
  readonly next_page_token: string;
  readonly log_index: string;
}

export interface LivenessProbe {
  readonly probe_type?: string;
  readonly port?: number;
  readonly path?: string;
  readonly period_secs?: number;
  readonly initial_delay_secs?: number;
  readonly failure_threshold?: number;
  readonly timeout_secs?: number;
}

export interface LogChunk {
  readonly node: string;
  readonly stream: LogStream;
  readonly data: string;
  /** Byte position after this chunk, as a decimal string. */
  readonly offset: string;
  readonly attempt: number;
  /** Number of bytes before this chunk that are no longer stored, as a decimal string. Empty: none. */
  readonly skipped: string;
}

export interface LogsRequest {
  readonly id?: string | undefined;
  readonly stream?: LogStream | undefined;
  readonly node?: string | undefined;
  /** Only the last N lines. 0: all. */
  readonly tail?: number | undefined;
  /** Attempt to read. 0: the latest. */
  readonly attempt?: number | undefined;
  /** Only output written at or after this instant, accurate to about a second. */
  readonly since?: string | undefined;
  /** Only output written before this instant. */
  readonly until?: string | undefined;
  /** Byte offset to start from in each log, as a decimal string. */
  readonly offset?: string | undefined;
  /** Maximum number of bytes in total. 0: no limit. */
  readonly limit?: number | undefined;
  /** Resumes a stream: "attempt:node:stream:offset" of the last chunk received from each log. */
  readonly resume?: readonly string[] | undefined;
}

export interface LookupServiceRequest {
  readonly name?: string | undefined;
  readonly tenant?: string | undefined;
}

export interface LookupServiceResponse {
  readonly name: string;
  readonly endpoints: readonly ServiceEndpoint[];
}

export interface Member {
  readonly id: string;
  /** Address for calls from other servers. Empty: unknown. */
  readonly address: string;
  readonly leader: boolean;
  readonly healthy: boolean;
  /** Log index its replica has applied, if it responds. */
  readonly applied_index?: string;
  /** Number of entries it is behind the end of the log. */
  readonly lag?: number;
  readonly server_version: string;
  /** Its etcd member, if it runs one. */
  readonly etcd?: EtcdMember;
  /** Its server certificate, if it has one and responds. */
  readonly certificate?: MemberCertificate;
  /** A recent log entry; the same for all members where they have one in common. */
  readonly state_index?: string;
  /** The state hash of its replica at that entry. Members at the same entry have the same hash. */
  readonly state_hash: string;
  /** Its state differs from that of the other members, so it serves no calls. */
  readonly diverged: boolean;
}

export interface MemberCertificate {
  /** Hexadecimal. */
  readonly serial: string;
  readonly end?: string;
}

export interface MembershipResponse {
  readonly members: readonly Member[];
  /** The cluster of these members. */
  readonly cluster_id: string;
  readonly cluster_generation: number;
  /** Identities of empty clusters into which this cluster was restored. */
  readonly former_cluster_ids: readonly string[];
}

export interface MemoryDomain {
  readonly id: number;
  /** dram, hbm, cxl or unified. */
  readonly kind: string;
  readonly capacity_gb: number;
  readonly numa_node?: number;
  readonly cpus: readonly number[];
  readonly gpus: readonly number[];
}

export interface MemoryInterconnect {
  readonly a: number;
  readonly b: number;
  /** numa_link, cxl_switch or coherent_fabric. */
  readonly kind: string;
  readonly bandwidth_mbps: number;
}

/** Memory domains of a node with the cores and GPUs close to them. */
export interface MemoryTopology {
  readonly domains: readonly MemoryDomain[];
  readonly interconnects: readonly MemoryInterconnect[];
}

export interface MetricAlert {
  readonly metric: string;
  /** warning or critical. */
  readonly severity: string;
  readonly message: string;
}

export interface MetricPoint {
  readonly at?: string;
  readonly value: number;
  /** Seconds since the allocation started. Set in comparisons. */
  readonly seconds?: number;
}

export interface MetricSeries {
  readonly metric: string;
  /** percent, bytes, bytes_per_second, watts or microseconds. */
  readonly unit: string;
  /** Empty: over all nodes. */
  readonly node: string;
  /** GPU index. Unset: the node, or all GPUs. */
  readonly gpu?: number;
  readonly points: readonly MetricPoint[];
}

export interface MetricsEvent {
  readonly at?: string;
  readonly allocation_id: string;
  readonly node: string;
  readonly values?: Readonly<Record<string, number>>;
  readonly alerts: readonly MetricAlert[];
  /** Why nothing is measured. The stream ends after this message. */
  readonly unavailable_reason: string;
}

export interface MetricsRequest {
  readonly id?: string | undefined;
  /** summary, per_node or per_gpu. Default: summary. */
  readonly mode?: string | undefined;
  /** Only these metrics, for example gpu_utilization. Empty: all. */
  readonly metrics?: readonly string[] | undefined;
  /** Length of the window up to now. Default: 300. */
  readonly duration_seconds?: number | undefined;
  /** Text form of duration_seconds, for example "4h". */
  readonly duration?: string | undefined;
}

export interface MetricsResponse {
  readonly allocation_id: string;
  readonly mode: string;
  /** Empty if nothing was measured. */
  readonly series: readonly MetricSeries[];
  /** Why there are no values. */
  readonly unavailable_reason: string;
  /** prod, debug or audit. */
  readonly telemetry_mode: string;
}

export interface Mount {
  /** A path on the node, or file://, nfs:// or s3://. {user}, {tenant}, {project} and {allocation_id} are substituted. */
  readonly source?: string;
  readonly target?: string;
  /** read-only or read-write. Default: read-only. */
  readonly access?: string;
  readonly tier_hint?: string;
  /** For s3://: a file on the node, readable by the user, with KEY:SECRET lines. Default: ~/.passwd-s3fs. */
  readonly credentials?: string;
}

export interface MountDiagnostics {
  readonly source: string;
  readonly target: string;
  readonly access: string;
}

export interface NetworkDiagnostics {
  /** Number of topology groups its nodes are in. */
  readonly group_span: number;
  readonly groups: readonly GroupDiagnostics[];
}

export interface NetworkDomain {
  readonly tenant: string;
  readonly name: string;
  readonly vni: number;
  /** active, or draining: no members, released at the end of its grace period. */
  readonly state: string;
  readonly allocation_ids: readonly string[];
  readonly grace_seconds: number;
  readonly created_at?: string;
  /** When a draining domain will be released. */
  readonly released_at?: string;
  /** Belongs to a single allocation. */
  readonly private: boolean;
  /** Traffic leaves the domain only through the data gateway. */
  readonly sensitive: boolean;
  /** State at the fabric manager: ready or waiting. Empty: no fabric manager. */
  readonly fabric: string;
  /** Why it is waiting. */
  readonly fabric_problem: string;
}

export interface NetworkStatus {
  readonly domain: string;
  readonly vni: number;
  /** The allocation has the domain to itself; traffic leaves it only through the data gateway. */
  readonly sensitive: boolean;
}

export interface NicCondition {
  readonly name: string;
  readonly firmware: string;
  /** True for a high-speed fabric adapter. */
  readonly fabric: boolean;
}

export interface Node {
  readonly id: string;
  readonly state: NodeState;
  /** For down: silent, disabled, quarantined or hardware. */
  readonly cause: string;
  readonly reason: string;
  readonly since?: string;
  readonly capabilities?: Capabilities;
  readonly group: string;
  readonly conformance: string;
  readonly home_vcluster: string;
  readonly claims: readonly Claim[];
  readonly agent_version: string;
  readonly last_heartbeat?: string;
  readonly connected: boolean;
  readonly address: string;
  /** vCluster whose work runs on the node. Empty: idle. */
  readonly current_vcluster: string;
  /** Expected configuration fingerprint, set while the node has drifted from it. Empty: no drift. */
  readonly expected_conformance: string;
  readonly drifted_since?: string;
  /** Last warning of an external hardware monitor, until it reports ok. Empty: none. */
  readonly hardware_warning: string;
  /** Tenant that owns the home vCluster. Empty: open to all tenants. */
  readonly home_tenant: string;
}

export interface NodeActionRequest {
  readonly id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface NodeCache {
  readonly node: string;
  /** Why this node failed. Empty: success. */
  readonly error: string;
  readonly size_bytes: number;
  readonly used_bytes: number;
  readonly images: readonly CachedImage[];
}

export interface NodeCondition {
  readonly node: string;
  /** Hash over the components. */
  readonly conformance: string;
  /** Versions by component: driver, firmware, BIOS, kernel, boot parameters and so on. */
  readonly components?: Readonly<Record<string, string>>;
  /** Faults found, as text. Empty: healthy. */
  readonly faults: readonly string[];
  readonly gpus: readonly GpuCondition[];
  readonly nics: readonly NicCondition[];
  readonly disks: readonly DiskCondition[];
  readonly examined_at?: string;
}

/** An exact count has min equal to max. */
export interface NodeCount {
  readonly min?: number;
  readonly max?: number;
}

/** Nodes that the vCluster may use, by availability. */
export interface NodeCounts {
  readonly total: number;
  readonly needed: number;
  /** Nodes that satisfy the constraints, free or not. */
  readonly matching: number;
  /** Nodes that match and are free. */
  readonly free: number;
  /** Nodes that fail each constraint. A node that fails two is counted twice. */
  readonly failed_constraints: readonly ConstraintFailure[];
  /** Matching nodes in use, by allocation, most nodes first. */
  readonly in_use: readonly NodeUse[];
  /** Matching nodes in use by allocations not listed in in_use. */
  readonly other_in_use: number;
  /** Matching free nodes that are reserved for other work. */
  readonly reserved: readonly ReservedNodes[];
}

export interface NodeDiagnostics {
  readonly node: string;
  readonly state: string;
  readonly connected: boolean;
  readonly last_heartbeat?: string;
  /** pending: the node has not responded to its order yet. */
  readonly progress: string;
  readonly message: string;
}

export interface NodeProgress {
  readonly node: string;
  readonly state: AllocationState;
  readonly exit_code?: number;
  readonly message: string;
}

export interface NodeResponse {
  readonly node: Node;
  readonly log_index: string;
}

export interface NodeTasks {
  readonly node: string;
  readonly first_rank: number;
  readonly tasks: number;
}

export interface NodeUsage {
  readonly node: string;
  readonly used?: UsedResources;
}

export interface NodeUse {
  /** Empty if the caller may not see the allocation. */
  readonly allocation_id: string;
  readonly tenant: string;
  readonly user: string;
  readonly nodes: number;
  /** Expected end. Unset: unknown. */
  readonly until?: string;
}

export interface Notice {
  /** Kind and subject: "budget_exhausted/physics". */
  readonly key: string;
  readonly kind: string;
  readonly at?: string;
  readonly text: string;
  readonly tenant: string;
  readonly user: string;
  readonly allocation_id: string;
  readonly node: string;
  readonly cleared_at?: string;
}

/** Paths may contain %j %A %a %x %N %n %u. Relative paths start at the working directory. */
export interface OutputFiles {
  readonly file?: string;
  /** File for standard error. Empty: standard error goes to `file`. */
  readonly error_file?: string;
  /** Appends instead of truncating. */
  readonly append?: boolean;
  /** Runs the work without the file if it cannot be written, instead of failing. */
  readonly if_possible?: boolean;
}

export interface PlacementSummary {
  readonly nodes: readonly string[];
  readonly placed_at?: string;
  readonly started_at?: string;
  readonly waited_seconds: number;
  readonly backfilled: boolean;
  readonly scores?: Readonly<Record<string, number>>;
  readonly attempt: number;
}

export interface PlanResponse {
  readonly starts_now: boolean;
  readonly estimated_start?: string;
  /** Nodes of an immediate start or of a reservation. */
  readonly nodes: readonly string[];
  readonly backfilled: boolean;
  readonly scores?: Readonly<Record<string, number>>;
  readonly causes: readonly Cause[];
  readonly would_preempt: readonly WouldPreempt[];
  readonly suggestions: readonly Suggestion[];
  readonly warnings: readonly string[];
  readonly tenant: string;
  readonly vcluster: string;
  readonly position: number;
  readonly queue_length: number;
  readonly log_index: string;
  /** True: estimated_start would be reserved immediately. False: it is an estimate. */
  readonly start_reserved: boolean;
}

export interface PreemptionVictim {
  /** Empty if the caller may not see the allocation. */
  readonly allocation_id: string;
  readonly tenant: string;
  readonly user: string;
  /** Number of nodes reserved for the pending allocation that it still occupies. */
  readonly nodes: number;
  /** checkpointing or stopping. */
  readonly stage: string;
}

export interface PreviousJobKey {
  readonly valid_until?: string;
}

export interface QueryAuditRequest {
  readonly user?: string | undefined;
  readonly allocation?: string | undefined;
  readonly node?: string | undefined;
  readonly tenant?: string | undefined;
  /** Records about this path or anything below it. */
  readonly data_path?: string | undefined;
  readonly event_type?: string | undefined;
  readonly scope?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly newest_first?: boolean | undefined;
  readonly page_size?: number | undefined;
  readonly page_token?: string | undefined;
  /** Aliases of since and until. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface QueryAuditResponse {
  readonly records: readonly AuditRecord[];
  readonly next_page_token: string;
  /** The current key, PEM. */
  readonly public_key: string;
  readonly log_index: string;
  /** All keys, oldest first. */
  readonly keys: readonly AuditKey[];
}

export interface Queue {
  readonly vcluster: string;
  /** Order of the last scheduling cycle; later submissions follow at the end. */
  readonly entries: readonly QueueEntry[];
  readonly next_page_token: string;
  readonly total: number;
  /** Time of the last scheduling cycle. Unset: none since this server became leader. */
  readonly evaluated_at?: string;
  readonly log_index: string;
}

export interface QueueEntry {
  readonly position: number;
  /** Empty, like user, tenant and name, if the caller may not see the allocation. */
  readonly allocation_id: string;
  readonly tenant: string;
  readonly user: string;
  readonly name: string;
  readonly min_nodes: number;
  readonly max_nodes: number;
  readonly walltime_seconds: number;
  readonly preemption_class: number;
  readonly submitted_at?: string;
  readonly estimated_start?: string;
  /** It has a reservation: a start time and nodes that later arrivals cannot delay. */
  readonly reserved: boolean;
  /** Weighted sum of the score terms, in thousandths. Unset: not computed yet. */
  readonly score?: number;
  readonly reasons: readonly string[];
  readonly reason_codes: readonly string[];
}

export interface QueuePosition {
  /** Starts at 1. */
  readonly position: number;
  readonly length: number;
  /** Score terms in thousandths; "total" is their sum. */
  readonly scores?: Readonly<Record<string, number>>;
  /** The first entries ahead in the queue. */
  readonly ahead: readonly QueuedAhead[];
  readonly reserved_start?: string;
  readonly reserved_nodes: readonly string[];
}

export interface QueuedAhead {
  readonly position: number;
  /** Empty if the caller may not see the allocation. */
  readonly allocation_id: string;
  readonly tenant: string;
  readonly user: string;
  readonly nodes: number;
  readonly scores?: Readonly<Record<string, number>>;
}

export interface Quota {
  /** Hard limits. Unset: unlimited. */
  readonly max_nodes?: number;
  readonly max_concurrent_allocations?: number;
  /** Soft targets. */
  readonly fair_share_target?: number;
  readonly gpu_hours_budget?: number;
  readonly node_hours_budget?: number;
  readonly burst_allowance?: number;
  /** Maximum number of named network domains at a time. Unset: the configured default for all tenants. */
  readonly max_network_domains?: number;
}

export interface RemoveEnrolmentRequest {
  readonly enrolment_id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface RemoveGrantRequest {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly role?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface RemoveMemberRequest {
  readonly id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface ReportHealthRequest {
  /** Node id. */
  readonly id?: string | undefined;
  /** critical: the hardware failed, the node goes down. warning: recorded as an event only. ok: a node that is down for hardware returns. */
  readonly status?: string | undefined;
  /** Affected component: "psu", "memory", "gpu3". */
  readonly component?: string | undefined;
  readonly message?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface ReservedNodes {
  /** Empty if the caller may not see the allocation. */
  readonly allocation_id: string;
  /** Set if the reservation belongs to another vCluster. */
  readonly vcluster: string;
  readonly nodes: number;
  readonly starts_at?: string;
}

export interface Resources {
  readonly nodes?: NodeCount;
  readonly constraints?: Constraints;
  readonly tasks_per_node?: number;
  /** Shares its nodes with no other work, also in a vCluster that shares nodes. */
  readonly exclusive?: boolean;
  /** A request in tasks instead of nodes: the server answers with the nodes that they need. */
  readonly task_request?: TaskRequest;
}

export interface RestoreBackupRequest {
  readonly source?: string | undefined;
  /** Alias of source. */
  readonly path?: string | undefined;
  /** Not compared: a restore is identified by the hash of the backup and resumes where it stopped. */
  readonly request_id?: string | undefined;
  /** The cluster whose backup is restored. Required where the place of the backup has backups of several clusters. */
  readonly cluster_id?: string | undefined;
}

export interface RestoreBackupResponse {
  readonly backup?: Backup;
  readonly log_index: string;
  readonly state_hash: string;
}

export interface ResumeRequest {
  readonly id?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface ResumeResponse {
  readonly id: string;
  readonly log_index: string;
}

export interface RotateAuditKeyRequest {
  /** No server has the current private key any more: the new key begins without an endorsement. */
  readonly lost?: boolean | undefined;
  readonly request_id?: string | undefined;
}

export interface RotateAuditKeyResponse {
  /** The new key. */
  readonly key_id: string;
  /** Number of servers that have stored it. */
  readonly servers: number;
  /** All keys, oldest first. */
  readonly keys: readonly AuditKey[];
  readonly log_index: string;
}

export interface RotateJobKeyRequest {
  /** How long tokens of the previous key stay valid. Default and maximum: 30 days, the lifetime of a token. 0: tokens of running jobs are rejected immediately. */
  readonly keep_seconds?: number | undefined;
  /** Text form of keep_seconds, for example "4h". */
  readonly keep?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface RotateJobKeyResponse {
  /** Previous keys that are still valid, newest first. */
  readonly previous_keys: readonly PreviousJobKey[];
  readonly log_index: string;
}

export interface RunningCheckpoint {
  readonly number: number;
  readonly since?: string;
  readonly cause: string;
  /** The allocation is suspended when this checkpoint completes. */
  readonly suspend_after: boolean;
  readonly message: string;
  readonly nodes: number;
  readonly nodes_done: number;
  /** Progress that the programs report, of the slowest node. Unset: none reported. */
  readonly percent?: number;
  readonly estimated_seconds?: number;
  /** Time by which the program has deferred the checkpoint. */
  readonly deferred_seconds: number;
}

export interface RunningUsage {
  readonly allocations: number;
  readonly nodes: number;
  readonly gpus: number;
}

export interface ScalePolicy {
  readonly min?: number;
  readonly max?: number;
  /** cpu_utilization, a metric that the program reports, or a query of the time-series store. */
  readonly metric?: string;
  /** A number, a percentage ("80%") or a duration ("250ms"). */
  readonly target?: string;
  /** 0 selects the default in this and the following fields. */
  readonly evaluation_interval_seconds?: number;
  /** Text form of evaluation_interval_seconds, for example "4h". */
  readonly evaluation_interval?: string;
  readonly scale_up_window_seconds?: number;
  /** Text form of scale_up_window_seconds, for example "4h". */
  readonly scale_up_window?: string;
  readonly scale_down_window_seconds?: number;
  /** Text form of scale_down_window_seconds, for example "4h". */
  readonly scale_down_window?: string;
  readonly scale_down_threshold?: number;
  readonly cooldown_seconds?: number;
  /** Text form of cooldown_seconds, for example "4h". */
  readonly cooldown?: string;
}

/** Current scale of an autoscaled service. */
export interface ScalingStatus {
  readonly min: number;
  readonly max: number;
  /** Current number of nodes. */
  readonly nodes: number;
  readonly metric: string;
  readonly target: string;
  readonly last_scaled_at?: string;
  /** Nodes that still run the version before the last update. */
  readonly outdated_nodes: number;
}

export interface SchedulerStatus {
  readonly leader: string;
  readonly vclusters: readonly VClusterCycles[];
}

export interface SendTaskInputRequest {
  readonly allocation_id?: string | undefined;
  readonly launch_id?: string | undefined;
  readonly data?: string | undefined;
  /** End of input. */
  readonly end?: boolean | undefined;
  /** Number of bytes sent before, which makes retries safe. Unset: the call is not retried. */
  readonly offset?: number | undefined;
  /** New size of the terminal, applied before `data`. 0: unchanged. */
  readonly rows?: number | undefined;
  readonly columns?: number | undefined;
}

export interface SendTaskInputResponse {
}

export interface ServerMetric {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Oldest first, at most 120. Empty without duration_seconds. */
  readonly points: readonly ServerMetricPoint[];
}

export interface ServerMetricPoint {
  readonly at?: string;
  readonly value: number;
}

export interface ServerMetrics {
  readonly component: string;
  /** The leader for scheduler metrics, otherwise the server that received the call. */
  readonly server: string;
  readonly at?: string;
  readonly started_at?: string;
  /** Start of the recorded data. A server records six hours and loses them at a restart. */
  readonly since?: string;
  readonly samples: readonly ServerMetric[];
}

export interface ServiceEndpoint {
  readonly allocation_id: string;
  readonly tenant: string;
  readonly node: string;
  /** Address of the node as its agent reported it. */
  readonly address: string;
  readonly port: number;
  /** tcp, udp, http, https or grpc, from the submission. Empty: unspecified. */
  readonly protocol: string;
}

export interface ServiceSummary {
  readonly name: string;
  readonly tenant: string;
  readonly endpoints: number;
}

/** The new version of a service. Its nodes are replaced one at a time. */
export interface ServiceUpdate {
  /** At most one of entrypoint, command and script. None keeps the current program. */
  readonly entrypoint?: string;
  readonly command?: readonly string[];
  readonly script?: string;
  /** Unset: unchanged. */
  readonly environment?: Environment;
  /** Unset: unchanged. */
  readonly scale_policy?: ScalePolicy;
  /** Unset: unchanged. Unset fields of a new probe take their defaults, not the previous values. */
  readonly liveness_probe?: LivenessProbe;
  /** Removes the liveness probe. Excludes liveness_probe. */
  readonly remove_liveness_probe?: boolean;
}

export interface Session {
  /** The allocation id, a dot and a number. */
  readonly id: string;
  readonly allocation_id: string;
  readonly user: string;
  readonly state: AllocationState;
  readonly created_at?: string;
  /** The allocation was created for this session and ends with it. */
  readonly owns_allocation: boolean;
  readonly nodes: readonly string[];
  /** Why the allocation is pending, as text. */
  readonly pending_reasons: readonly string[];
  readonly estimated_start?: string;
  /** True: estimated_start is a reservation that later arrivals cannot delay. False: it is an estimate. */
  readonly start_reserved: boolean;
  /** Why the allocation failed or was cancelled. */
  readonly reason: string;
  readonly message: string;
}

export interface SetConfigRequest {
  readonly key?: string | undefined;
  /** JSON or a bare word. Leave it empty with reset to return to the configuration file. */
  readonly value?: string | undefined;
  readonly reset?: boolean | undefined;
  readonly request_id?: string | undefined;
}

export interface SetDomainGraceRequest {
  readonly name?: string | undefined;
  readonly tenant?: string | undefined;
  readonly grace_seconds?: number | undefined;
  /** Text form of grace_seconds, for example "4h". */
  readonly grace?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface SetSignalsRequest {
  /** Replaces all previous signals. */
  readonly signals?: Signals | undefined;
  /** Lifetime. 0: one hour. */
  readonly valid_seconds?: number | undefined;
  /** Text form of valid_seconds, for example "4h". */
  readonly valid?: string | undefined;
  /** Not compared: signals are replaced as a whole, and a repetition only extends their lifetime. */
  readonly request_id?: string | undefined;
}

export interface Setting {
  readonly key: string;
  /** Value in force on this server, as JSON: 10, true, "30s", {"physics": 500} or null. A secret shows its reference, or "(set)" if it is written out. */
  readonly value: string;
  /** Can be changed while servers run. */
  readonly live: boolean;
  /** cluster: set at run time for all servers. Otherwise where this server read it: flag, file, environment or default. */
  readonly source: string;
  readonly set_at?: string;
  readonly set_by: string;
}

export interface SignalBudget {
  readonly limit?: number;
  readonly used?: number;
}

/** External inputs of the scheduler, kept by the leader until `valid_until`. Unset: unknown. */
export interface Signals {
  /** Current electricity price, from 0 (lowest known) to 1 (highest). */
  readonly energy_price?: number;
  /** Watts. */
  readonly power?: SignalBudget;
  /** MB/s. */
  readonly storage?: SignalBudget;
  /** By topology group, from 0 (idle) to 1. */
  readonly congestion?: Readonly<Record<string, number>>;
  /** By allocation: fraction of its resources used in earlier attempts, 0 to 1. */
  readonly efficiency?: Readonly<Record<string, number>>;
  /** By allocation: fraction of its input on the hot tier, 0 to 1. */
  readonly data_ready?: Readonly<Record<string, number>>;
  /** By allocation: duration of a checkpoint in minutes. */
  readonly checkpoint_minutes?: Readonly<Record<string, number>>;
  readonly valid_until?: string;
}

export interface StorageDiagnostics {
  readonly mounts: readonly MountDiagnostics[];
  /** MB/s of the whole cluster, from the scheduler's signals: this and the next field. */
  readonly bandwidth_limit?: number;
  readonly bandwidth_used?: number;
}

export interface StreamMetricsRequest {
  readonly id?: string | undefined;
  readonly metrics?: readonly string[] | undefined;
  /** Only events with alerts. */
  readonly alerts_only?: boolean | undefined;
}

export interface SubmitDagRequest {
  readonly name?: string | undefined;
  /** Each has a unique name; depends_on refers to names of other members. */
  readonly allocations?: readonly AllocationSpec[] | undefined;
  /** Idempotency key, remembered for 24 hours. */
  readonly request_id?: string | undefined;
}

export interface SubmitDagResponse {
  readonly id: string;
  readonly state: DagState;
  readonly members: readonly DagMember[];
  readonly warnings: readonly string[];
  readonly log_index: string;
}

export interface SubmitRequest {
  readonly allocation?: AllocationSpec | undefined;
  /** Idempotency key, remembered for 24 hours. */
  readonly request_id?: string | undefined;
  /** Submits the allocation held, until it is released. */
  readonly hold?: boolean | undefined;
}

export interface SubmitResponse {
  readonly id: string;
  readonly state: AllocationState;
  readonly warnings: readonly string[];
  readonly log_index: string;
}

export interface Suggestion {
  /** nodes, walltime, constraint or vcluster. */
  readonly kind: string;
  readonly text: string;
  /** Fields of the submission to change. */
  readonly change?: Readonly<Record<string, string>>;
  readonly starts_at?: string;
  readonly starts_now: boolean;
  /** cycle: a full scheduling cycle with the change. plan: its turn in the current plan. */
  readonly verified_by: string;
}

export interface TaskEnd {
  readonly rank: number;
  readonly node: string;
  /** 128 plus the signal number for a task killed by a signal. */
  readonly exit_code: number;
  /** 0: none. */
  readonly signal: number;
  /** Why a task could not be started. */
  readonly message: string;
}

/** Every step-th index from start to end, both inclusive. */
export interface TaskGroup {
  readonly start?: number;
  readonly end?: number;
  /** Default: 1. */
  readonly step?: number;
  /** Maximum number of elements that run at the same time. Unset: no limit. */
  readonly concurrency?: number;
  /** Explicit indexes: "1,3,5-7", "0-99:2,200". If set, start and end may be omitted; in responses they are the lowest and highest index. */
  readonly indexes?: string;
}

/** Element counts of a task group, by state. */
export interface TaskGroupStatus {
  readonly range?: TaskGroup;
  readonly size: number;
  /** Elements not queued yet. */
  readonly waiting: number;
  /** Elements in the queue. */
  readonly pending: number;
  /** Elements on nodes. */
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Indexes of elements not queued yet: "5-7,9", "1-9:2". Ends in ",..." when truncated. */
  readonly waiting_indexes: string;
  /** Elements suspended until they are resumed. */
  readonly suspended: number;
  /** Elements not queued yet that the owner holds individually. A hold on the whole group is in Allocation.hold. */
  readonly user_hold_indexes: string;
  /** Elements not queued yet that an administrator holds individually. */
  readonly admin_hold_indexes: string;
}

export interface TaskOutput {
  readonly rank: number;
  readonly stream: LogStream;
  readonly data: string;
}

/** Tasks that are packed onto the cores of nodes. Shown specs have the nodes and constraints that follow from it. */
export interface TaskRequest {
  /** 0: one, or as many as follow from nodes and tasks_per_node. */
  readonly tasks?: number;
  /** 0: one. */
  readonly cpus_per_task?: number;
  readonly memory_gb_per_cpu?: number;
  /** Total of all nodes. */
  readonly gpus?: number;
  /** Tasks may share cores. */
  readonly overcommit?: boolean;
}

export interface Telemetry {
  /** prod, debug or audit. Default: prod. */
  readonly mode?: string;
  /** Output only: when the mode reverts to prod. Unset: it does not revert. */
  readonly until?: string;
}

export interface Tenant {
  readonly id: string;
  readonly description: string;
  readonly quota?: Quota;
  readonly max_preemption_class: number;
  readonly created_at?: string;
  /** Created by a first submission instead of by an administrator. */
  readonly automatic: boolean;
  readonly nodes_in_use: number;
  readonly running_allocations: number;
  /** Limits set by cluster administrators, where the tenant's own administrators have set lower ones. Unset: no difference. */
  readonly ceiling?: TenantCeiling;
}

export interface TenantCeiling {
  readonly quota?: Quota;
  readonly max_preemption_class: number;
}

export interface TenantResponse {
  readonly tenant: Tenant;
  readonly log_index: string;
}

export interface TenantUsage {
  readonly tenant: string;
  readonly node_hours: number;
  readonly gpu_hours: number;
  readonly running?: RunningUsage;
}

export interface Timeline {
  readonly id: string;
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Number of entries that are no longer stored. */
  readonly omitted: number;
  readonly log_index: string;
}

export interface TimelineEntry {
  readonly at?: string;
  /** submitted, reserved, reservation_moved, placement_refused, placed, started, requeued, preempted, suspended, completed, failed or cancelled. */
  readonly kind: string;
  readonly text: string;
  readonly attempt: number;
  readonly nodes: readonly string[];
  /** Score terms of a placement, in thousandths. */
  readonly scores?: Readonly<Record<string, number>>;
  /** Start time of a reservation. */
  readonly starts_at?: string;
}

export interface TimelineRequest {
  readonly id?: string | undefined;
}

export interface TransferLeaderRequest {
  /** Empty: the server with the most complete log. */
  readonly to?: string | undefined;
  readonly request_id?: string | undefined;
}

export interface TransferLeaderResponse {
  readonly leader: string;
  readonly term: string;
}

export interface Unmeasured {
  /** For example network.bandwidth. */
  readonly metric: string;
  readonly reason: string;
}

export interface UpdateAllocationRequest {
  readonly id?: string | undefined;
  readonly walltime_seconds?: number | undefined;
  /** Text form of walltime_seconds, for example "4h". */
  readonly walltime?: string | undefined;
  readonly preemption_class?: number | undefined;
  readonly name?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly request_id?: string | undefined;
  /** prod, debug or audit. */
  readonly telemetry_mode?: string | undefined;
  /** Reverts to prod after this time. 0: never. */
  readonly telemetry_seconds?: number | undefined;
  /** New version of a service, which has no walltime. */
  readonly service?: ServiceUpdate | undefined;
  /** Holds or releases pending work; cannot be combined with other changes. The id may name a task group, an element, or several: 12_[3-9,20]. */
  readonly hold?: boolean | undefined;
  /** Tags to add or overwrite. */
  readonly set_tags?: Readonly<Record<string, string>> | undefined;
  /** Names of tags to remove. */
  readonly remove_tags?: readonly string[] | undefined;
}

export interface UpdateAllocationResponse {
  readonly allocation: Allocation;
  readonly log_index: string;
}

export interface UpdateTenantRequest {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  /** Unset limits are unchanged. */
  readonly quota?: Quota | undefined;
  readonly max_preemption_class?: number | undefined;
  /** Limits to remove, by field name, for example "max_nodes". */
  readonly unset?: readonly string[] | undefined;
  readonly request_id?: string | undefined;
}

export interface UpdateVClusterRequest {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly weights?: Weights | undefined;
  readonly cycle_interval_seconds?: number | undefined;
  /** Text form of cycle_interval_seconds, for example "4h". */
  readonly cycle_interval?: string | undefined;
  readonly backfill_depth?: number | undefined;
  readonly default_walltime_seconds?: number | undefined;
  /** Text form of default_walltime_seconds, for example "4h". */
  readonly default_walltime?: string | undefined;
  readonly max_walltime_seconds?: number | undefined;
  /** Text form of max_walltime_seconds, for example "4h". */
  readonly max_walltime?: string | undefined;
  readonly request_id?: string | undefined;
  readonly preempts?: boolean | undefined;
  readonly preemptible?: Preemptible | undefined;
  readonly borrows?: boolean | undefined;
  /** Unset fields are unchanged. */
  readonly lending?: Lending | undefined;
  readonly near_completion_threshold_seconds?: number | undefined;
  /** Text form of near_completion_threshold_seconds, for example "4h". */
  readonly near_completion_threshold?: string | undefined;
  readonly shares_nodes?: boolean | undefined;
  readonly max_victims?: number | undefined;
}

export interface Usage {
  /** Empty: several tenants together. */
  readonly tenant: string;
  /** Empty: all users. */
  readonly user: string;
  /** First and last day (UTC), both inclusive. */
  readonly since: string;
  readonly until: string;
  readonly days: number;
  /** Running work is counted up to this instant. */
  readonly calculated_at?: string;
  readonly node_hours: number;
  readonly gpu_hours: number;
  readonly running?: RunningUsage;
  /** Budgets of the tenant as a whole over the budget period. */
  readonly budgets: readonly Budget[];
  /** Fraction of all node-hours used in the cluster on these days. */
  readonly share: number;
  readonly fair_share_target?: number;
  readonly burst_allowance?: number;
  /** Every day of the window, oldest first. */
  readonly by_day: readonly DayUsage[];
  /** Largest usage first, truncated. */
  readonly by_user: readonly UserUsage[];
  readonly by_tenant: readonly TenantUsage[];
  /** Number of users in the window; by_user lists the largest. */
  readonly users: number;
  readonly log_index: string;
}

/** A value that could not be measured is unset. */
export interface UsedResources {
  /** CPU time of all processes, in milliseconds. */
  readonly processor_ms?: number;
  /** The most memory in use at one time on one node. */
  readonly peak_memory_bytes?: number;
  /** Storage. */
  readonly read_bytes?: number;
  readonly written_bytes?: number;
  /** Network. */
  readonly received_bytes?: number;
  readonly sent_bytes?: number;
  /** GPU time in use, in milliseconds: one GPU at 50 % for two seconds gives 1000. */
  readonly gpu_busy_ms?: number;
  /** The most memory in use on one GPU. */
  readonly gpu_peak_memory_bytes?: number;
  readonly gpu_energy_joules?: number;
}

export interface UserUsage {
  /** "(others)" for users the ledger does not track individually. */
  readonly user: string;
  readonly node_hours: number;
  readonly gpu_hours: number;
  readonly running?: RunningUsage;
}

export interface VCluster {
  readonly id: string;
  readonly description: string;
  /** Empty: open to all tenants. */
  readonly tenant: string;
  readonly scheduler: SchedulerType;
  readonly weights?: Weights;
  readonly cycle_interval_seconds: number;
  readonly backfill_depth: number;
  readonly default_walltime_seconds: number;
  readonly max_walltime_seconds: number;
  readonly is_default: boolean;
  readonly created_at?: string;
  readonly pending: number;
  readonly running: number;
  /** Whether pending work here may preempt work of lower classes. */
  readonly preempts: boolean;
  /** Whether running work here may be preempted. */
  readonly preemptible: Preemptible;
  /** Whether it uses idle nodes that other vClusters lend. */
  readonly borrows: boolean;
  /** Unset: it lends no nodes. */
  readonly lending?: Lending;
  /** An allocation this close to its walltime is not preempted. */
  readonly near_completion_threshold_seconds: number;
  /** Whether work that needs less than a node shares nodes. */
  readonly shares_nodes: boolean;
  /** Maximum number of allocations preempted for one pending allocation. */
  readonly max_victims: number;
}

export interface VClusterCycles {
  readonly vcluster: string;
  readonly scheduler: string;
  readonly cycle_interval_seconds: number;
  readonly pending: number;
  readonly running: number;
  /** Since this leader took over. */
  readonly cycles: number;
  readonly last_cycle?: string;
  readonly last_cycle_seconds: number;
  readonly longest_cycle_seconds: number;
  /** Values of the latest cycle: this and the next field. */
  readonly considered: number;
  readonly reservations: number;
  /** Since this leader took over: this and the following two fields. */
  readonly placements: number;
  readonly placements_refused: number;
  readonly preemptions: number;
  /** Number of pending allocations by their first reason code. */
  readonly waiting?: Readonly<Record<string, number>>;
}

export interface VClusterResponse {
  readonly vcluster: VCluster;
  readonly log_index: string;
  /** Adjustments made to the request, such as weights scaled to a sum of 1. */
  readonly warnings: readonly string[];
}

export interface VerifyAuditRequest {
}

export interface VerifyAuditResponse {
  readonly ok: boolean;
  /** What is wrong, and with which record. */
  readonly problem: string;
  readonly number: string;
  /** Number of records verified. */
  readonly records: number;
  /** The current key, PEM. */
  readonly public_key: string;
  /** Number of newest records that the leader has not signed yet. */
  readonly unsigned_records: number;
  /** Keys without an endorsement of their predecessor: after a restore, or a loss of the key. */
  readonly unendorsed_keys: readonly string[];
  /** The verified records. Records before the first may have expired; whether newer ones existed is known from elsewhere. */
  readonly first_record: string;
  readonly last_record: string;
}

export interface VerifyBackupRequest {
  /** A path on the server or s3://bucket/key. Empty: the newest backup. */
  readonly source?: string | undefined;
}

export interface VerifyBackupResponse {
  readonly ok: boolean;
  readonly backup?: Backup;
  readonly checks: readonly BackupCheck[];
}

export interface WarmCacheRequest {
  readonly image?: string | undefined;
  /** Default without nodes and group: all connected nodes. */
  readonly nodes?: readonly string[] | undefined;
  readonly group?: string | undefined;
  /** Excludes the image from eviction for space. */
  readonly sticky?: boolean | undefined;
  /** Not compared: a node that has the image does nothing. */
  readonly request_id?: string | undefined;
}

export interface WatchEvent {
  readonly cursor: string;
  readonly at?: string;
  /** allocation_changed, node_changed, tenant_changed, vcluster_changed, claim_released, placement_refused, dag_changed or checkpoint. */
  readonly kind: string;
  readonly allocation_id: string;
  readonly attempt: number;
  readonly node: string;
  readonly tenant: string;
  readonly vcluster: string;
  readonly user: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly message: string;
  readonly dag_id: string;
}

export interface WatchRequest {
  /** "index:n" of the last event received. Empty: starts with the next event. */
  readonly cursor?: string | undefined;
  readonly allocation_id?: string | undefined;
  readonly node?: string | undefined;
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  /** Event kinds, for example "allocation_changed". Empty: all. */
  readonly kinds?: readonly string[] | undefined;
}

/** Weights of the nine score terms. Only their ratios matter. */
export interface Weights {
  readonly priority?: number;
  readonly wait_time?: number;
  readonly fair_share?: number;
  readonly topology?: number;
  readonly data_readiness?: number;
  readonly backlog?: number;
  readonly energy?: number;
  readonly checkpoint?: number;
  readonly conformance?: number;
}

export interface WouldPreempt {
  /** Empty if the caller may not see the allocation. */
  readonly allocation_id: string;
  readonly tenant: string;
  readonly user: string;
  readonly nodes: number;
  readonly preemption_class: number;
}
