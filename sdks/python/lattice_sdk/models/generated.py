# Written by tools/generate-sdk.mjs from proto/lattice/v1. Do not edit.

"""What the API returns, as dataclasses. Fields that a newer server adds are in ``extra``."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..record import Record
from ..state import State
from .extras import MemberIds, SessionId, SpecNames

__all__ = [
    "Accounting",
    "AccountingRecord",
    "Allocation",
    "AllocationEvent",
    "AttemptUsage",
    "AuditKey",
    "AuditRecord",
    "Backup",
    "BackupCheck",
    "BackupVerification",
    "Budget",
    "CacheResponse",
    "CachedImage",
    "Cancelled",
    "CancelledDag",
    "Capabilities",
    "Cause",
    "CheckpointDecision",
    "CheckpointStatus",
    "Claim",
    "ClusterStatus",
    "ComparedAllocation",
    "Comparison",
    "CompletedCheckpoint",
    "ConfigResponse",
    "ConstraintFailure",
    "CreateEnrolmentResponse",
    "CreatedSession",
    "Dag",
    "DagGraph",
    "DagGraphEdge",
    "DagGraphNode",
    "DagMember",
    "DayUsage",
    "DeleteResponse",
    "DeleteSessionResponse",
    "Dependency",
    "Diagnostics",
    "DiskCondition",
    "Enrolment",
    "EnrolmentResponse",
    "EtcdMember",
    "Explanation",
    "FailedCheckpoint",
    "GpuCondition",
    "GpuDevice",
    "GpuDiagnostics",
    "GpuLink",
    "GpuTopology",
    "Grant",
    "GrantResponse",
    "GroupDiagnostics",
    "Hold",
    "Image",
    "ImageView",
    "LeaderTransfer",
    "Lending",
    "ListAllocationsResponse",
    "ListBackupsResponse",
    "ListDagsResponse",
    "ListDomainsResponse",
    "ListEnrolmentsResponse",
    "ListEventsResponse",
    "ListGrantsResponse",
    "ListImagesResponse",
    "ListNodesResponse",
    "ListNoticesResponse",
    "ListServicesResponse",
    "ListSessionsResponse",
    "ListTenantsResponse",
    "ListVClustersResponse",
    "Member",
    "MemberCertificate",
    "MembershipResponse",
    "MemoryDomain",
    "MemoryInterconnect",
    "MemoryTopology",
    "MetricPoint",
    "MetricSeries",
    "MountDiagnostics",
    "NetworkDiagnostics",
    "NetworkDomain",
    "NetworkStatus",
    "NicCondition",
    "Node",
    "NodeCache",
    "NodeCondition",
    "NodeCounts",
    "NodeDiagnostics",
    "NodeProgress",
    "NodeResponse",
    "NodeUsage",
    "NodeUse",
    "Notice",
    "PlacementSummary",
    "Plan",
    "PreemptionVictim",
    "PreviousJobKey",
    "QueryAuditResponse",
    "Queue",
    "QueueEntry",
    "QueuePosition",
    "QueuedAhead",
    "Quota",
    "ReservedNodes",
    "RestoreBackupResponse",
    "ResumeResponse",
    "RotateAuditKeyResponse",
    "RotateJobKeyResponse",
    "RunningCheckpoint",
    "RunningUsage",
    "ScalingStatus",
    "SchedulerStatus",
    "ServerMetric",
    "ServerMetricPoint",
    "ServerMetrics",
    "Service",
    "ServiceEndpoint",
    "ServiceSummary",
    "Session",
    "Setting",
    "SignalBudget",
    "Signals",
    "StorageDiagnostics",
    "Submitted",
    "SubmittedDag",
    "Suggestion",
    "TaskGroup",
    "TaskGroupStatus",
    "Tenant",
    "TenantCeiling",
    "TenantResponse",
    "TenantUsage",
    "Timeline",
    "TimelineEntry",
    "Unmeasured",
    "UpdateAllocationResponse",
    "Usage",
    "UsedResources",
    "UserUsage",
    "VCluster",
    "VClusterCycles",
    "VClusterResponse",
    "VerifyAuditResponse",
    "Weights",
    "WouldPreempt",
]


@dataclass(frozen=True, kw_only=True)
class Grant(Record):
    tenant: str = ""
    user: str = ""
    role: str = ""
    """tenant_admin or claiming_user."""
    granted_by: str = ""
    granted_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class GrantResponse(Record):
    grant: Grant | None = None
    """The grant after the change, or before its removal."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class ListGrantsResponse(Record):
    grants: list[Grant] = field(default_factory=list)
    next_page_token: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class PreviousJobKey(Record):
    valid_until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class RotateJobKeyResponse(Record):
    previous_keys: list[PreviousJobKey] = field(default_factory=list)
    """Previous keys that are still valid, newest first."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class AuditKey(Record):
    """A public key of the audit log, with the records that it signs."""

    key_id: str = ""
    """The first half of the SHA-256 of the public key in base64, hexadecimal."""
    public_key: str = ""
    """Ed25519, PEM."""
    first_record: str = ""
    last_record: str = ""
    """Empty for the current key."""
    since: datetime | None = None
    endorsement: str = ""
    """Signature of the previous key over this one, base64. Empty for the first key and for the successor of a lost
    key."""


@dataclass(frozen=True, kw_only=True)
class RotateAuditKeyResponse(Record):
    key_id: str = ""
    """The new key."""
    servers: int = 0
    """Number of servers that have stored it."""
    keys: list[AuditKey] = field(default_factory=list)
    """All keys, oldest first."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Enrolment(Record):
    enrolment_id: str = ""
    max_nodes: int = 0
    """Number of nodes that may use the token."""
    nodes: list[str] = field(default_factory=list)
    """Nodes that used it, in order."""
    networks: list[str] = field(default_factory=list)
    """Networks from which nodes may use it, such as 10.1.0.0/16. Empty: all."""
    valid_until: datetime | None = None
    created_by: str = ""
    created_at: datetime | None = None
    state: State = State("")
    """open, used_up or expired."""


@dataclass(frozen=True, kw_only=True)
class CreateEnrolmentResponse(Record):
    enrolment: Enrolment | None = None
    token: str = ""
    """The token for agents (LATTICE_AGENT_TOKEN). The cluster stores its hash only."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class ListEnrolmentsResponse(Record):
    enrolments: list[Enrolment] = field(default_factory=list)
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class EnrolmentResponse(Record):
    enrolment: Enrolment | None = None
    """The enrolment before its removal."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class AuditRecord(Record):
    number: str = ""
    """Starts at 1, without gaps."""
    log_index: str = ""
    at: datetime | None = None
    user: str = ""
    event_type: str = ""
    """For example "grant.add"."""
    scope: str = ""
    """access, tenants, nodes, work, cluster or sensitive."""
    detail: str = ""
    tenant: str = ""
    allocation_id: str = ""
    node: str = ""
    data_path: str = ""
    previous_hash: str = ""
    """Hash of the previous record. Empty for the first."""
    hash: str = ""
    """SHA-256 over all fields above, hexadecimal."""
    signature: str = ""
    """Ed25519 signature over "lattice audit record " and the hash, base64. Empty until the leader has signed the
    record."""
    key_id: str = ""
    """The key of the signature."""


@dataclass(frozen=True, kw_only=True)
class QueryAuditResponse(Record):
    records: list[AuditRecord] = field(default_factory=list)
    next_page_token: str = ""
    public_key: str = ""
    """The current key, PEM."""
    log_index: str = ""
    keys: list[AuditKey] = field(default_factory=list)
    """All keys, oldest first."""


@dataclass(frozen=True, kw_only=True)
class VerifyAuditResponse(Record):
    ok: bool = False
    problem: str = ""
    """What is wrong, and with which record."""
    number: str = ""
    records: int = 0
    """Number of records verified."""
    public_key: str = ""
    """The current key, PEM."""
    unsigned_records: int = 0
    """Number of newest records that the leader has not signed yet."""
    unendorsed_keys: list[str] = field(default_factory=list)
    """Keys without an endorsement of their predecessor: after a restore, or a loss of the key."""
    first_record: str = ""
    """The verified records. Records before the first may have expired; whether newer ones existed is known from
    elsewhere."""
    last_record: str = ""


@dataclass(frozen=True, kw_only=True)
class Quota(Record):
    max_nodes: int | None = None
    """Hard limits. Unset: unlimited."""
    max_concurrent_allocations: int | None = None
    fair_share_target: float | None = None
    """Soft targets."""
    gpu_hours_budget: float | None = None
    node_hours_budget: float | None = None
    burst_allowance: float | None = None
    max_network_domains: int | None = None
    """Maximum number of named network domains at a time. Unset: the configured default for all tenants."""


@dataclass(frozen=True, kw_only=True)
class TenantCeiling(Record):
    quota: Quota | None = None
    max_preemption_class: int = 0


@dataclass(frozen=True, kw_only=True)
class Tenant(Record):
    id: str = ""
    description: str = ""
    quota: Quota = field(default_factory=Quota)
    max_preemption_class: int = 0
    created_at: datetime | None = None
    automatic: bool = False
    """Created by a first submission instead of by an administrator."""
    nodes_in_use: int = 0
    running_allocations: int = 0
    ceiling: TenantCeiling | None = None
    """Limits set by cluster administrators, where the tenant's own administrators have set lower ones. Unset: no
    difference."""


@dataclass(frozen=True, kw_only=True)
class TenantResponse(Record):
    tenant: Tenant | None = None
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class ListTenantsResponse(Record):
    tenants: list[Tenant] = field(default_factory=list)
    next_page_token: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class DeleteResponse(Record):
    id: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Weights(Record):
    """Weights of the nine score terms. Only their ratios matter."""

    priority: float | None = None
    wait_time: float | None = None
    fair_share: float | None = None
    topology: float | None = None
    data_readiness: float | None = None
    backlog: float | None = None
    energy: float | None = None
    checkpoint: float | None = None
    conformance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Lending(Record):
    """Terms on which idle home nodes are lent to other vClusters."""

    enabled: bool | None = None
    """False: lends nothing. Default in requests: true."""
    keep_nodes: int | None = None
    """Number of home nodes that are never lent."""
    max_class: int | None = None
    """Highest preemption class that may borrow. Default: 4."""
    max_duration_seconds: int | None = None
    """Longest walltime that may borrow. 0: no limit."""
    return_grace_seconds: int | None = None
    """Time between SIGTERM and SIGKILL when a lent node is reclaimed. Default: 30."""


@dataclass(frozen=True, kw_only=True)
class VCluster(Record):
    id: str = ""
    description: str = ""
    tenant: str = ""
    """Empty: open to all tenants."""
    scheduler: str = ""
    weights: Weights | None = None
    cycle_interval_seconds: int = 0
    backfill_depth: int = 0
    default_walltime_seconds: int = 0
    max_walltime_seconds: int = 0
    is_default: bool = False
    created_at: datetime | None = None
    pending: int = 0
    running: int = 0
    preempts: bool = False
    """Whether pending work here may preempt work of lower classes."""
    preemptible: str = ""
    """Whether running work here may be preempted."""
    borrows: bool = False
    """Whether it uses idle nodes that other vClusters lend."""
    lending: Lending | None = None
    """Unset: it lends no nodes."""
    near_completion_threshold_seconds: int = 0
    """An allocation this close to its walltime is not preempted."""
    shares_nodes: bool = False
    """Whether work that needs less than a node shares nodes."""
    max_victims: int = 0
    """Maximum number of allocations preempted for one pending allocation."""


@dataclass(frozen=True, kw_only=True)
class VClusterResponse(Record):
    vcluster: VCluster | None = None
    log_index: str = ""
    warnings: list[str] = field(default_factory=list)
    """Adjustments made to the request, such as weights scaled to a sum of 1."""


@dataclass(frozen=True, kw_only=True)
class ListVClustersResponse(Record):
    vclusters: list[VCluster] = field(default_factory=list)
    next_page_token: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class QueueEntry(Record):
    position: int = 0
    allocation_id: str = ""
    """Empty, like user, tenant and name, if the caller may not see the allocation."""
    tenant: str = ""
    user: str = ""
    name: str = ""
    min_nodes: int = 0
    max_nodes: int = 0
    walltime_seconds: int = 0
    preemption_class: int = 0
    submitted_at: datetime | None = None
    estimated_start: datetime | None = None
    reserved: bool = False
    """It has a reservation: a start time and nodes that later arrivals cannot delay."""
    score: int | None = None
    """Weighted sum of the score terms, in thousandths. Unset: not computed yet."""
    reasons: list[str] = field(default_factory=list)
    reason_codes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Queue(Record):
    vcluster: str = ""
    entries: list[QueueEntry] = field(default_factory=list)
    """Order of the last scheduling cycle; later submissions follow at the end."""
    next_page_token: str = ""
    total: int = 0
    evaluated_at: datetime | None = None
    """Time of the last scheduling cycle. Unset: none since this server became leader."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class VClusterCycles(Record):
    vcluster: str = ""
    scheduler: str = ""
    cycle_interval_seconds: int = 0
    pending: int = 0
    running: int = 0
    cycles: int = 0
    """Since this leader took over."""
    last_cycle: datetime | None = None
    last_cycle_seconds: float = 0.0
    longest_cycle_seconds: float = 0.0
    considered: int = 0
    """Values of the latest cycle: this and the next field."""
    reservations: int = 0
    placements: int = 0
    """Since this leader took over: this and the following two fields."""
    placements_refused: int = 0
    preemptions: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    """Number of pending allocations by their first reason code."""


@dataclass(frozen=True, kw_only=True)
class SchedulerStatus(Record):
    leader: str = ""
    vclusters: list[VClusterCycles] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ServerMetricPoint(Record):
    at: datetime | None = None
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ServerMetric(Record):
    name: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    value: float = 0.0
    points: list[ServerMetricPoint] = field(default_factory=list)
    """Oldest first, at most 120. Empty without duration_seconds."""


@dataclass(frozen=True, kw_only=True)
class ServerMetrics(Record):
    component: str = ""
    server: str = ""
    """The leader for scheduler metrics, otherwise the server that received the call."""
    at: datetime | None = None
    started_at: datetime | None = None
    since: datetime | None = None
    """Start of the recorded data. A server records six hours and loses them at a restart."""
    samples: list[ServerMetric] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class UsedResources(Record):
    """A value that could not be measured is unset."""

    processor_ms: float | None = None
    """CPU time of all processes, in milliseconds."""
    peak_memory_bytes: float | None = None
    """The most memory in use at one time on one node."""
    read_bytes: float | None = None
    """Storage."""
    written_bytes: float | None = None
    received_bytes: float | None = None
    """Network."""
    sent_bytes: float | None = None
    gpu_busy_ms: float | None = None
    """GPU time in use, in milliseconds: one GPU at 50 % for two seconds gives 1000."""
    gpu_peak_memory_bytes: float | None = None
    """The most memory in use on one GPU."""
    gpu_energy_joules: float | None = None


@dataclass(frozen=True, kw_only=True)
class NodeUsage(Record):
    node: str = ""
    used: UsedResources | None = None


@dataclass(frozen=True, kw_only=True)
class AttemptUsage(Record):
    attempt: int = 0
    nodes: int = 0
    """Number of nodes that have reported."""
    total: UsedResources | None = None
    """Over all of these nodes: sums, and the highest value for peaks."""
    peak_memory_node: str = ""
    """The node with the peak memory."""
    by_node: list[NodeUsage] = field(default_factory=list)
    """The first 16 nodes."""


@dataclass(frozen=True, kw_only=True)
class AccountingRecord(Record):
    allocation_id: str = ""
    name: str = ""
    user: str = ""
    tenant: str = ""
    project: str = ""
    vcluster: str = ""
    state: State = State("")
    reason: str = ""
    exit_code: int | None = None
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    nodes: int = 0
    attempts: int = 0
    """Number of attempts that ran, including unsuccessful ones."""
    elapsed_seconds: float = 0.0
    waited_seconds: float = 0.0
    node_hours: float = 0.0
    """Sum over all attempts: this and the next field."""
    gpu_hours: float = 0.0
    walltime_used: float | None = None
    """Fraction of the requested walltime that was used, 0 to 1. Unset: unbounded."""
    tags: dict[str, str] = field(default_factory=dict)
    usage: list[AttemptUsage] = field(default_factory=list)
    """By attempt, oldest first."""


@dataclass(frozen=True, kw_only=True)
class Accounting(Record):
    records: list[AccountingRecord] = field(default_factory=list)
    """Newest first."""
    next_page_token: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Setting(Record):
    key: str = ""
    value: str = ""
    """Value in force on this server, as JSON: 10, true, "30s", {"physics": 500} or null. A secret shows its
    reference, or "(set)" if it is written out."""
    live: bool = False
    """Can be changed while servers run."""
    source: str = ""
    """cluster: set at run time for all servers. Otherwise where this server read it: flag, file, environment or
    default."""
    set_at: datetime | None = None
    set_by: str = ""


@dataclass(frozen=True, kw_only=True)
class ConfigResponse(Record):
    settings: list[Setting] = field(default_factory=list)
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class RunningUsage(Record):
    allocations: int = 0
    nodes: int = 0
    gpus: int = 0


@dataclass(frozen=True, kw_only=True)
class Budget(Record):
    kind: str = ""
    """gpu_hours or node_hours."""
    period_days: int = 0
    hours: float = 0.0
    used_hours: float = 0.0
    remaining_hours: float = 0.0
    """Never negative."""
    percent: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DayUsage(Record):
    day: str = ""
    node_hours: float = 0.0
    gpu_hours: float = 0.0


@dataclass(frozen=True, kw_only=True)
class UserUsage(Record):
    user: str = ""
    """"(others)" for users the ledger does not track individually."""
    node_hours: float = 0.0
    gpu_hours: float = 0.0
    running: RunningUsage = field(default_factory=RunningUsage)


@dataclass(frozen=True, kw_only=True)
class TenantUsage(Record):
    tenant: str = ""
    node_hours: float = 0.0
    gpu_hours: float = 0.0
    running: RunningUsage = field(default_factory=RunningUsage)


@dataclass(frozen=True, kw_only=True)
class Usage(Record):
    tenant: str = ""
    """Empty: several tenants together."""
    user: str = ""
    """Empty: all users."""
    since: str = ""
    """First and last day (UTC), both inclusive."""
    until: str = ""
    days: int = 0
    calculated_at: datetime | None = None
    """Running work is counted up to this instant."""
    node_hours: float = 0.0
    gpu_hours: float = 0.0
    running: RunningUsage = field(default_factory=RunningUsage)
    budgets: list[Budget] = field(default_factory=list)
    """Budgets of the tenant as a whole over the budget period."""
    share: float = 0.0
    """Fraction of all node-hours used in the cluster on these days."""
    fair_share_target: float | None = None
    burst_allowance: float | None = None
    by_day: list[DayUsage] = field(default_factory=list)
    """Every day of the window, oldest first."""
    by_user: list[UserUsage] = field(default_factory=list)
    """Largest usage first, truncated."""
    by_tenant: list[TenantUsage] = field(default_factory=list)
    users: int = 0
    """Number of users in the window; by_user lists the largest."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class EtcdMember(Record):
    id: str = ""
    """Hexadecimal, as etcd's own tools print it."""
    name: str = ""
    """Empty: added but never started."""
    peer_address: str = ""
    client_address: str = ""
    healthy: bool = False
    leader: bool = False
    """Leader of etcd, which may differ from the leader of Lattice."""
    version: str = ""
    database_bytes: float = 0.0
    raft_term: str = ""
    raft_index: str = ""
    learner: bool = False
    """Copies the log and has no vote yet; it becomes a full member by itself."""


@dataclass(frozen=True, kw_only=True)
class MemberCertificate(Record):
    serial: str = ""
    """Hexadecimal."""
    end: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Member(Record):
    id: str = ""
    address: str = ""
    """Address for calls from other servers. Empty: unknown."""
    leader: bool = False
    healthy: bool = False
    applied_index: str | None = None
    """Log index its replica has applied, if it responds."""
    lag: int | None = None
    """Number of entries it is behind the end of the log."""
    server_version: str = ""
    etcd: EtcdMember | None = None
    """Its etcd member, if it runs one."""
    certificate: MemberCertificate | None = None
    """Its server certificate, if it has one and responds."""
    state_index: str | None = None
    """A recent log entry; the same for all members where they have one in common."""
    state_hash: str = ""
    """The state hash of its replica at that entry. Members at the same entry have the same hash."""
    diverged: bool = False
    """Its state differs from that of the other members, so it serves no calls."""


@dataclass(frozen=True, kw_only=True)
class ClusterStatus(Record):
    engine: str = ""
    term: str = ""
    leader: str = ""
    is_leader: bool = False
    last_index: str = ""
    applied_index: str = ""
    snapshot_index: str = ""
    state_hash: str = ""
    members: list[Member] = field(default_factory=list)
    log_bytes: float = 0.0
    writable: bool = False
    unwritable_reason: str = ""
    """Why writes are rejected, if they are."""
    cluster_id: str = ""
    """The identity of the cluster, for clients that name it."""


@dataclass(frozen=True, kw_only=True)
class MembershipResponse(Record):
    members: list[Member] = field(default_factory=list)
    cluster_id: str = ""
    """The cluster of these members."""
    cluster_generation: float = 0.0
    former_cluster_ids: list[str] = field(default_factory=list)
    """Identities of empty clusters into which this cluster was restored."""


@dataclass(frozen=True, kw_only=True)
class LeaderTransfer(Record):
    leader: str = ""
    term: str = ""


@dataclass(frozen=True, kw_only=True)
class Backup(Record):
    source: str = ""
    """A path on the server, or s3://bucket/key."""
    created_at: datetime | None = None
    log_index: str = ""
    term: str = ""
    state_hash: str = ""
    sha256: str = ""
    """Checksum of the whole file."""
    bytes: float = 0.0
    allocations: int = 0
    nodes: int = 0
    history_records: float = 0.0
    server_version: str = ""
    format: int = 0
    audit_records: float = 0.0
    """Audit records in addition to those in the state."""
    cluster_id: str = ""
    """The identity of the cluster that wrote it."""


@dataclass(frozen=True, kw_only=True)
class ListBackupsResponse(Record):
    backups: list[Backup] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class BackupCheck(Record):
    name: str = ""
    """checksum, metadata, records, state_hash, history or audit."""
    ok: bool = False
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class BackupVerification(Record):
    ok: bool = False
    backup: Backup | None = None
    checks: list[BackupCheck] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RestoreBackupResponse(Record):
    backup: Backup | None = None
    log_index: str = ""
    state_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class SignalBudget(Record):
    limit: float = 0.0
    used: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Signals(Record):
    """External inputs of the scheduler, kept by the leader until `valid_until`. Unset: unknown."""

    energy_price: float | None = None
    """Current electricity price, from 0 (lowest known) to 1 (highest)."""
    power: SignalBudget | None = None
    """Watts."""
    storage: SignalBudget | None = None
    """MB/s."""
    congestion: dict[str, float] = field(default_factory=dict)
    """By topology group, from 0 (idle) to 1."""
    efficiency: dict[str, float] = field(default_factory=dict)
    """By allocation: fraction of its resources used in earlier attempts, 0 to 1."""
    data_ready: dict[str, float] = field(default_factory=dict)
    """By allocation: fraction of its input on the hot tier, 0 to 1."""
    checkpoint_minutes: dict[str, float] = field(default_factory=dict)
    """By allocation: duration of a checkpoint in minutes."""
    valid_until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ServiceSummary(Record):
    name: str = ""
    tenant: str = ""
    endpoints: int = 0


@dataclass(frozen=True, kw_only=True)
class ListServicesResponse(Record):
    services: list[ServiceSummary] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ServiceEndpoint(Record):
    allocation_id: str = ""
    tenant: str = ""
    node: str = ""
    address: str = ""
    """Address of the node as its agent reported it."""
    port: int = 0
    protocol: str = ""
    """tcp, udp, http, https or grpc, from the submission. Empty: unspecified."""


@dataclass(frozen=True, kw_only=True)
class Service(Record):
    name: str = ""
    endpoints: list[ServiceEndpoint] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Submitted(Record):
    id: str = ""
    state: State = State("")
    warnings: list[str] = field(default_factory=list)
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeProgress(Record):
    node: str = ""
    state: State = State("")
    exit_code: int | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class CompletedCheckpoint(Record):
    number: int = 0
    attempt: int = 0
    at: datetime | None = None
    bytes: float = 0.0
    seconds: float = 0.0
    cause: str = ""
    """user, broker, preempted, drained or walltime."""


@dataclass(frozen=True, kw_only=True)
class FailedCheckpoint(Record):
    number: int = 0
    at: datetime | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class RunningCheckpoint(Record):
    number: int = 0
    since: datetime | None = None
    cause: str = ""
    suspend_after: bool = False
    """The allocation is suspended when this checkpoint completes."""
    message: str = ""
    nodes: int = 0
    nodes_done: int = 0
    percent: int | None = None
    """Progress that the programs report, of the slowest node. Unset: none reported."""
    estimated_seconds: int | None = None
    deferred_seconds: int = 0
    """Time by which the program has deferred the checkpoint."""


@dataclass(frozen=True, kw_only=True)
class CheckpointDecision(Record):
    """The broker's cost model: whether a checkpoint pays now. Amounts are in seconds of one GPU, or of one node
    without GPUs."""

    verdict: str = ""
    """take, wait, busy, storage_away, not_asked or not_running."""
    reason: str = ""
    value: float = 0.0
    cost: float = 0.0
    recompute_saved: float = 0.0
    preemptability: float = 0.0
    backlog_relief: float = 0.0
    walltime_risk: float = 0.0
    write_time: float = 0.0
    compute_waste: float = 0.0
    storage_cost: float = 0.0
    size_bytes: float = 0.0
    """Inputs of the model: this and the following fields."""
    since_last_seconds: float = 0.0
    failure_probability: float = 0.0
    devices: int = 0
    evaluated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class CheckpointStatus(Record):
    mode: str = ""
    """How the program is notified: signal, shmem, grpc or dmtcp."""
    requested: int = 0
    """Number of checkpoints requested so far."""
    completed: int = 0
    """Number of checkpoints completed so far."""
    last: CompletedCheckpoint | None = None
    """The latest completed checkpoint. The next attempt resumes from it."""
    failure: FailedCheckpoint | None = None
    """The latest failed checkpoint, unless a later one completed."""
    current: RunningCheckpoint | None = None
    """The checkpoint in progress."""
    decision: CheckpointDecision | None = None
    """The broker's latest decision. Set for strategy auto only."""
    id: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class TaskGroup(Record):
    """Every step-th index from start to end, both inclusive."""

    start: int = 0
    end: int = 0
    step: int | None = None
    """Default: 1."""
    concurrency: int | None = None
    """Maximum number of elements that run at the same time. Unset: no limit."""
    indexes: str = ""
    """Explicit indexes: "1,3,5-7", "0-99:2,200". If set, start and end may be omitted; in responses they are the
    lowest and highest index."""


@dataclass(frozen=True, kw_only=True)
class TaskGroupStatus(Record):
    """Element counts of a task group, by state."""

    range: TaskGroup | None = None
    size: int = 0
    waiting: int = 0
    """Elements not queued yet."""
    pending: int = 0
    """Elements in the queue."""
    running: int = 0
    """Elements on nodes."""
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    waiting_indexes: str = ""
    """Indexes of elements not queued yet: "5-7,9", "1-9:2". Ends in ",..." when truncated."""
    suspended: int = 0
    """Elements suspended until they are resumed."""
    user_hold_indexes: str = ""
    """Elements not queued yet that the owner holds individually. A hold on the whole group is in Allocation.hold."""
    admin_hold_indexes: str = ""
    """Elements not queued yet that an administrator holds individually."""


@dataclass(frozen=True, kw_only=True)
class Dependency(Record):
    ref: str = ""
    """Id of an allocation, task group or element of the same tenant; in a DAG, the name of a member; for mutex, a
    lock name."""
    condition: str = ""
    """success, failure, any, corresponding or mutex. Default: success."""


@dataclass(frozen=True, kw_only=True)
class ScalingStatus(Record):
    """Current scale of an autoscaled service."""

    min: int = 0
    max: int = 0
    nodes: int = 0
    """Current number of nodes."""
    metric: str = ""
    target: str = ""
    last_scaled_at: datetime | None = None
    outdated_nodes: int = 0
    """Nodes that still run the version before the last update."""


@dataclass(frozen=True, kw_only=True)
class NetworkStatus(Record):
    domain: str = ""
    vni: int = 0
    sensitive: bool = False
    """The allocation has the domain to itself; traffic leaves it only through the data gateway."""


@dataclass(frozen=True, kw_only=True)
class Hold(Record):
    kind: str = ""
    """user: the owner can release it. admin: only an administrator can."""
    by: str = ""
    """User who set the hold. Empty: unknown."""
    since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Allocation(SpecNames):
    id: str = ""
    state: State = State("")
    spec: dict[str, Any] = field(default_factory=dict)
    user: str = ""
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    nodes: list[str] = field(default_factory=list)
    """Nodes of the current or last attempt."""
    attempt: int = 0
    requeues: int = 0
    exit_code: int | None = None
    reason: str = ""
    """Why the allocation failed, was cancelled or was requeued, for example "walltime_exceeded"."""
    message: str = ""
    pending_reasons: list[str] = field(default_factory=list)
    """Why the allocation is pending, as text."""
    estimated_start: datetime | None = None
    start_reserved: bool = False
    """True: estimated_start is a reservation that later arrivals cannot delay. False: it is an estimate."""
    progress: list[NodeProgress] = field(default_factory=list)
    backfilled: bool = False
    scores: dict[str, int] = field(default_factory=dict)
    """Score terms of the committed placement, in thousandths."""
    log_index: str = ""
    preemptions: int = 0
    """Number of preemptions. Not counted in requeues."""
    checkpoint: CheckpointStatus | None = None
    """The latest and the current checkpoint. Unset: none was requested."""
    suspensions: int = 0
    """Number of suspensions other than preemptions."""
    group: TaskGroupStatus | None = None
    """Status of the elements, for a task group."""
    dag_id: str = ""
    """The DAG this allocation is a member of."""
    unmet_dependencies: list[Dependency] = field(default_factory=list)
    """Dependencies that are not met yet. The allocation is not queued before they are."""
    pending_reason_codes: list[str] = field(default_factory=list)
    """One code per entry of pending_reasons: busy, quota_nodes, dependency and so on."""
    scaling: ScalingStatus | None = None
    """Set for a service that scales or is being updated."""
    network: NetworkStatus | None = None
    topology_groups: list[str] = field(default_factory=list)
    """Topology groups of its nodes, without duplicates."""
    nodes_joined: int = 0
    """For a service: number of nodes added while it ran. Each has its own attempt number and is not a restart."""
    hold: Hold | None = None
    """Set while the allocation is held."""
    usage: list[AttemptUsage] = field(default_factory=list)
    """Resources used by its attempts, oldest first. An attempt appears when a node has reported its end."""
    cancelled_by: str = ""
    """The user who cancelled it. Empty: not cancelled, or cancelled by the cluster."""


@dataclass(frozen=True, kw_only=True)
class ListAllocationsResponse(Record):
    allocations: list[Allocation] = field(default_factory=list)
    next_page_token: str = ""
    total: int = 0
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Cancelled(Record):
    id: str = ""
    state: State = State("")
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class UpdateAllocationResponse(Record):
    allocation: Allocation | None = None
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Cause(Record):
    code: str = ""
    """quota_nodes, quota_allocations, no_matching_nodes, busy, reserved, power, storage, topology, priority, ..."""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ConstraintFailure(Record):
    constraint: str = ""
    """A constraint, for example "gpu_type" or "features nvme", or a node state, for example "drained"."""
    nodes: int = 0


@dataclass(frozen=True, kw_only=True)
class NodeUse(Record):
    allocation_id: str = ""
    """Empty if the caller may not see the allocation."""
    tenant: str = ""
    user: str = ""
    nodes: int = 0
    until: datetime | None = None
    """Expected end. Unset: unknown."""


@dataclass(frozen=True, kw_only=True)
class ReservedNodes(Record):
    allocation_id: str = ""
    """Empty if the caller may not see the allocation."""
    vcluster: str = ""
    """Set if the reservation belongs to another vCluster."""
    nodes: int = 0
    starts_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class NodeCounts(Record):
    """Nodes that the vCluster may use, by availability."""

    total: int = 0
    needed: int = 0
    matching: int = 0
    """Nodes that satisfy the constraints, free or not."""
    free: int = 0
    """Nodes that match and are free."""
    failed_constraints: list[ConstraintFailure] = field(default_factory=list)
    """Nodes that fail each constraint. A node that fails two is counted twice."""
    in_use: list[NodeUse] = field(default_factory=list)
    """Matching nodes in use, by allocation, most nodes first."""
    other_in_use: int = 0
    """Matching nodes in use by allocations not listed in in_use."""
    reserved: list[ReservedNodes] = field(default_factory=list)
    """Matching free nodes that are reserved for other work."""


@dataclass(frozen=True, kw_only=True)
class QueuedAhead(Record):
    position: int = 0
    allocation_id: str = ""
    """Empty if the caller may not see the allocation."""
    tenant: str = ""
    user: str = ""
    nodes: int = 0
    scores: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class QueuePosition(Record):
    position: int = 0
    """Starts at 1."""
    length: int = 0
    scores: dict[str, int] = field(default_factory=dict)
    """Score terms in thousandths; "total" is their sum."""
    ahead: list[QueuedAhead] = field(default_factory=list)
    """The first entries ahead in the queue."""
    reserved_start: datetime | None = None
    reserved_nodes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Suggestion(Record):
    kind: str = ""
    """nodes, walltime, constraint or vcluster."""
    text: str = ""
    change: dict[str, str] = field(default_factory=dict)
    """Fields of the submission to change."""
    starts_at: datetime | None = None
    starts_now: bool = False
    verified_by: str = ""
    """cycle: a full scheduling cycle with the change. plan: its turn in the current plan."""


@dataclass(frozen=True, kw_only=True)
class PlacementSummary(Record):
    nodes: list[str] = field(default_factory=list)
    placed_at: datetime | None = None
    started_at: datetime | None = None
    waited_seconds: float = 0.0
    backfilled: bool = False
    scores: dict[str, int] = field(default_factory=dict)
    attempt: int = 0


@dataclass(frozen=True, kw_only=True)
class PreemptionVictim(Record):
    allocation_id: str = ""
    """Empty if the caller may not see the allocation."""
    tenant: str = ""
    user: str = ""
    nodes: int = 0
    """Number of nodes reserved for the pending allocation that it still occupies."""
    stage: str = ""
    """checkpointing or stopping."""


@dataclass(frozen=True, kw_only=True)
class Explanation(Record):
    id: str = ""
    state: State = State("")
    """State of the allocation, for example "pending"."""
    vcluster: str = ""
    tenant: str = ""
    user: str = ""
    summary: str = ""
    """The main cause in one sentence."""
    evaluated_at: datetime | None = None
    """When the leader evaluated the allocation. Unset once it has started."""
    causes: list[Cause] = field(default_factory=list)
    """All causes, most important first."""
    nodes: NodeCounts | None = None
    queue: QueuePosition | None = None
    tenant_limits: list[str] = field(default_factory=list)
    """Quotas, budgets and fair share of its tenant, as text."""
    suggestions: list[Suggestion] = field(default_factory=list)
    """Changes that would start it sooner, each verified by the scheduler."""
    estimated_start: datetime | None = None
    estimate_error_seconds: float | None = None
    """Median error of recent start estimates."""
    placement: PlacementSummary | None = None
    """Where and when it was started, and with what score."""
    log_index: str = ""
    victims: list[PreemptionVictim] = field(default_factory=list)
    """Allocations being preempted for it that still occupy its nodes."""
    start_reserved: bool = False
    """True: estimated_start is a reservation that later arrivals cannot delay. False: it is an estimate."""


@dataclass(frozen=True, kw_only=True)
class WouldPreempt(Record):
    allocation_id: str = ""
    """Empty if the caller may not see the allocation."""
    tenant: str = ""
    user: str = ""
    nodes: int = 0
    preemption_class: int = 0


@dataclass(frozen=True, kw_only=True)
class Plan(Record):
    starts_now: bool = False
    estimated_start: datetime | None = None
    nodes: list[str] = field(default_factory=list)
    """Nodes of an immediate start or of a reservation."""
    backfilled: bool = False
    scores: dict[str, int] = field(default_factory=dict)
    causes: list[Cause] = field(default_factory=list)
    would_preempt: list[WouldPreempt] = field(default_factory=list)
    suggestions: list[Suggestion] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tenant: str = ""
    vcluster: str = ""
    position: int = 0
    queue_length: int = 0
    log_index: str = ""
    start_reserved: bool = False
    """True: estimated_start would be reserved immediately. False: it is an estimate."""


@dataclass(frozen=True, kw_only=True)
class TimelineEntry(Record):
    at: datetime | None = None
    kind: str = ""
    """submitted, reserved, reservation_moved, placement_refused, placed, started, requeued, preempted, suspended,
    completed, failed or cancelled."""
    text: str = ""
    attempt: int = 0
    nodes: list[str] = field(default_factory=list)
    scores: dict[str, int] = field(default_factory=dict)
    """Score terms of a placement, in thousandths."""
    starts_at: datetime | None = None
    """Start time of a reservation."""


@dataclass(frozen=True, kw_only=True)
class Timeline(Record):
    id: str = ""
    entries: list[TimelineEntry] = field(default_factory=list)
    """Oldest first."""
    omitted: int = 0
    """Number of entries that are no longer stored."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class GroupDiagnostics(Record):
    group: str = ""
    nodes: int = 0
    congestion: float | None = None
    """0 to 1, from the scheduler's signals. Unset: not reported."""


@dataclass(frozen=True, kw_only=True)
class NetworkDiagnostics(Record):
    group_span: int = 0
    """Number of topology groups its nodes are in."""
    groups: list[GroupDiagnostics] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class MountDiagnostics(Record):
    source: str = ""
    target: str = ""
    access: str = ""


@dataclass(frozen=True, kw_only=True)
class StorageDiagnostics(Record):
    mounts: list[MountDiagnostics] = field(default_factory=list)
    bandwidth_limit: float | None = None
    """MB/s of the whole cluster, from the scheduler's signals: this and the next field."""
    bandwidth_used: float | None = None


@dataclass(frozen=True, kw_only=True)
class GpuDiagnostics(Record):
    type: str = ""
    count: int = 0
    """GPUs on all of its nodes."""
    linked: int = 0
    """GPUs that have a link faster than PCIe to another GPU of the same node."""


@dataclass(frozen=True, kw_only=True)
class NodeDiagnostics(Record):
    node: str = ""
    state: State = State("")
    connected: bool = False
    last_heartbeat: datetime | None = None
    progress: str = ""
    """pending: the node has not responded to its order yet."""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Unmeasured(Record):
    metric: str = ""
    """For example network.bandwidth."""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagnostics(Record):
    allocation_id: str = ""
    state: State = State("")
    network: NetworkDiagnostics | None = None
    storage: StorageDiagnostics | None = None
    gpus: GpuDiagnostics | None = None
    nodes: list[NodeDiagnostics] = field(default_factory=list)
    unmeasured: list[Unmeasured] = field(default_factory=list)
    """Values that are not measured on this cluster."""


@dataclass(frozen=True, kw_only=True)
class MetricPoint(Record):
    at: datetime | None = None
    value: float = 0.0
    seconds: float | None = None
    """Seconds since the allocation started. Set in comparisons."""


@dataclass(frozen=True, kw_only=True)
class MetricSeries(Record):
    metric: str = ""
    unit: str = ""
    """percent, bytes, bytes_per_second, watts or microseconds."""
    node: str = ""
    """Empty: over all nodes."""
    gpu: int | None = None
    """GPU index. Unset: the node, or all GPUs."""
    points: list[MetricPoint] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ComparedAllocation(Record):
    allocation_id: str = ""
    name: str = ""
    state: State = State("")
    started_at: datetime | None = None
    ended_at: datetime | None = None
    elapsed_seconds: float = 0.0
    nodes: int = 0
    gpus: int = 0
    attempt: int = 0
    series: list[MetricSeries] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Comparison(Record):
    align: str = ""
    allocations: list[ComparedAllocation] = field(default_factory=list)
    unavailable_reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ResumeResponse(Record):
    id: str = ""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class ImageView(Record):
    name: str = ""
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Image(Record):
    name: str = ""
    """For example "prgenv-gnu/24.11:v1"."""
    digest: str = ""
    """"sha256:" and 64 hexadecimal digits."""
    size_bytes: float = 0.0
    mount: str = ""
    views: list[ImageView] = field(default_factory=list)
    signed: bool = False
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class ListImagesResponse(Record):
    images: list[Image] = field(default_factory=list)
    node: str = ""
    """Node that answered."""


@dataclass(frozen=True, kw_only=True)
class CachedImage(Record):
    name: str = ""
    digest: str = ""
    kind: str = ""
    """uenv or oci."""
    size_bytes: float = 0.0
    last_used: datetime | None = None
    sticky: bool = False
    pins: int = 0
    """Number of attempts that use the image now."""
    other_names: list[str] = field(default_factory=list)
    """Other names it was requested by, oldest first."""


@dataclass(frozen=True, kw_only=True)
class NodeCache(Record):
    node: str = ""
    error: str = ""
    """Why this node failed. Empty: success."""
    size_bytes: float = 0.0
    used_bytes: float = 0.0
    images: list[CachedImage] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class CacheResponse(Record):
    nodes: list[NodeCache] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class NetworkDomain(Record):
    tenant: str = ""
    name: str = ""
    vni: int = 0
    state: State = State("")
    """active, or draining: no members, released at the end of its grace period."""
    allocation_ids: list[str] = field(default_factory=list)
    grace_seconds: int = 0
    created_at: datetime | None = None
    released_at: datetime | None = None
    """When a draining domain will be released."""
    private: bool = False
    """Belongs to a single allocation."""
    sensitive: bool = False
    """Traffic leaves the domain only through the data gateway."""
    fabric: str = ""
    """State at the fabric manager: ready or waiting. Empty: no fabric manager."""
    fabric_problem: str = ""
    """Why it is waiting."""


@dataclass(frozen=True, kw_only=True)
class ListDomainsResponse(Record):
    domains: list[NetworkDomain] = field(default_factory=list)
    vni_pool_start: int = 0
    vni_pool_end: int = 0
    vnis_used: int = 0
    max_domains_per_tenant: int = 0
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class GpuDevice(Record):
    index: int = 0
    vendor: str = ""
    """nvidia or amd."""
    model: str = ""
    memory_gb: float = 0.0
    partitioned: bool = False
    """True for a slice of a partitioned GPU."""


@dataclass(frozen=True, kw_only=True)
class GpuLink(Record):
    a: int = 0
    b: int = 0
    kind: str = ""
    """nvlink, nvswitch, infinity_fabric, xgmi or pcie."""
    bandwidth_mbps: int = 0


@dataclass(frozen=True, kw_only=True)
class GpuTopology(Record):
    """Links between the GPUs of a node."""

    gpus: list[GpuDevice] = field(default_factory=list)
    links: list[GpuLink] = field(default_factory=list)
    nic_affinity: dict[str, str] = field(default_factory=dict)
    """GPU index to the name of the nearest NIC."""


@dataclass(frozen=True, kw_only=True)
class MemoryDomain(Record):
    id: int = 0
    kind: str = ""
    """dram, hbm, cxl or unified."""
    capacity_gb: float = 0.0
    numa_node: int | None = None
    cpus: list[int] = field(default_factory=list)
    gpus: list[int] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class MemoryInterconnect(Record):
    a: int = 0
    b: int = 0
    kind: str = ""
    """numa_link, cxl_switch or coherent_fabric."""
    bandwidth_mbps: int = 0


@dataclass(frozen=True, kw_only=True)
class MemoryTopology(Record):
    """Memory domains of a node with the cores and GPUs close to them."""

    domains: list[MemoryDomain] = field(default_factory=list)
    interconnects: list[MemoryInterconnect] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Capabilities(Record):
    cpu_cores: int = 0
    memory_gb: float = 0.0
    gpu_type: str = ""
    gpu_count: int = 0
    features: list[str] = field(default_factory=list)
    hostname: str = ""
    kernel: str = ""
    isolation: str = ""
    """cgroup2, cgroup1 or process_group."""
    hollow: bool = False
    runtimes: list[str] = field(default_factory=list)
    """Runtimes and limits the node supports: bare, uenv, podman, numactl, limit:memory and so on."""
    cxl_memory_gb: float = 0.0
    """Memory behind CXL expanders, in addition to memory_gb."""
    power_watts: int = 0
    """Power draw under load. 0: unknown."""
    gpu_topology: GpuTopology | None = None
    memory_topology: MemoryTopology | None = None


@dataclass(frozen=True, kw_only=True)
class Claim(Record):
    allocation_id: str = ""
    attempt: int = 0
    tenant: str = ""
    vcluster: str = ""
    releasing: bool = False
    exclusive: bool = False
    cpu_cores: int = 0
    """Share of a shared node: this and the following fields."""
    memory_gb: float = 0.0
    gpu_count: int = 0


@dataclass(frozen=True, kw_only=True)
class Node(Record):
    id: str = ""
    state: State = State("")
    cause: str = ""
    """For down: silent, disabled, quarantined or hardware."""
    reason: str = ""
    since: datetime | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    group: str = ""
    conformance: str = ""
    home_vcluster: str = ""
    claims: list[Claim] = field(default_factory=list)
    agent_version: str = ""
    last_heartbeat: datetime | None = None
    connected: bool = False
    address: str = ""
    current_vcluster: str = ""
    """vCluster whose work runs on the node. Empty: idle."""
    expected_conformance: str = ""
    """Expected configuration fingerprint, set while the node has drifted from it. Empty: no drift."""
    drifted_since: datetime | None = None
    hardware_warning: str = ""
    """Last warning of an external hardware monitor, until it reports ok. Empty: none."""
    home_tenant: str = ""
    """Tenant that owns the home vCluster. Empty: open to all tenants."""


@dataclass(frozen=True, kw_only=True)
class ListNodesResponse(Record):
    nodes: list[Node] = field(default_factory=list)
    next_page_token: str = ""
    total: int = 0
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class GpuCondition(Record):
    index: int = 0
    vendor: str = ""
    model: str = ""
    uuid: str = ""
    memory_gb: float = 0.0
    pci: str = ""
    """PCI address."""
    partitioned: bool = False
    """True for a slice of a partitioned GPU."""
    capability: str = ""
    """Compute capability or architecture."""
    firmware: str = ""
    temperature_c: float | None = None
    fault: str = ""
    nic: str = ""
    """Nearest network adapter."""


@dataclass(frozen=True, kw_only=True)
class NicCondition(Record):
    name: str = ""
    firmware: str = ""
    fabric: bool = False
    """True for a high-speed fabric adapter."""


@dataclass(frozen=True, kw_only=True)
class DiskCondition(Record):
    name: str = ""
    model: str = ""
    size_gb: float = 0.0
    firmware: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeCondition(Record):
    node: str = ""
    conformance: str = ""
    """Hash over the components."""
    components: dict[str, str] = field(default_factory=dict)
    """Versions by component: driver, firmware, BIOS, kernel, boot parameters and so on."""
    faults: list[str] = field(default_factory=list)
    """Faults found, as text. Empty: healthy."""
    gpus: list[GpuCondition] = field(default_factory=list)
    nics: list[NicCondition] = field(default_factory=list)
    disks: list[DiskCondition] = field(default_factory=list)
    examined_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class NodeResponse(Record):
    node: Node | None = None
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class CreatedSession(SessionId):
    session_id: str = ""
    allocation_id: str = ""
    state: State = State("")
    warnings: list[str] = field(default_factory=list)
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Session(Record):
    id: str = ""
    """The allocation id, a dot and a number."""
    allocation_id: str = ""
    user: str = ""
    state: State = State("")
    created_at: datetime | None = None
    owns_allocation: bool = False
    """The allocation was created for this session and ends with it."""
    nodes: list[str] = field(default_factory=list)
    pending_reasons: list[str] = field(default_factory=list)
    """Why the allocation is pending, as text."""
    estimated_start: datetime | None = None
    start_reserved: bool = False
    """True: estimated_start is a reservation that later arrivals cannot delay. False: it is an estimate."""
    reason: str = ""
    """Why the allocation failed or was cancelled."""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ListSessionsResponse(Record):
    sessions: list[Session] = field(default_factory=list)
    next_page_token: str = ""
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class DeleteSessionResponse(Record):
    id: str = ""
    allocation_id: str = ""
    state: State = State("")
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class DagMember(Record):
    name: str = ""
    allocation_id: str = ""
    state: State = State("")
    reason: str = ""
    """Why it failed or was cancelled: "dependency_failed" if it was skipped."""
    depends_on: list[Dependency] = field(default_factory=list)
    """By member names."""
    group: TaskGroupStatus | None = None
    """Set for a member that is a task group and has not been archived."""


@dataclass(frozen=True, kw_only=True)
class SubmittedDag(MemberIds):
    id: str = ""
    state: State = State("")
    members: list[DagMember] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Dag(Record):
    id: str = ""
    name: str = ""
    state: State = State("")
    user: str = ""
    tenant: str = ""
    submitted_at: datetime | None = None
    ended_at: datetime | None = None
    members: list[DagMember] = field(default_factory=list)
    """In topological order. Omitted in lists."""
    size: int = 0
    ended: int = 0
    """Number of finished members."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class DagGraphNode(Record):
    name: str = ""
    allocation_id: str = ""
    state: State = State("")


@dataclass(frozen=True, kw_only=True)
class DagGraphEdge(Record):
    from_: str = ""
    """The member that is waited for."""
    to: str = ""
    """The member that waits."""
    condition: str = ""


@dataclass(frozen=True, kw_only=True)
class DagGraph(Record):
    id: str = ""
    nodes: list[DagGraphNode] = field(default_factory=list)
    edges: list[DagGraphEdge] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ListDagsResponse(Record):
    dags: list[Dag] = field(default_factory=list)
    next_page_token: str = ""
    total: int = 0
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class CancelledDag(Record):
    id: str = ""
    state: State = State("")
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class AllocationEvent(Record):
    cursor: str = ""
    """"index:n": log index of the entry, and the event's number within it. Increases from event to event."""
    at: datetime | None = None
    type: str = ""
    """state, decision, failure, scaling or preemption."""
    kind: str = ""
    """Machine-readable kind: submitted, placed, started, requeued, preempted, scaled_up, completed, ..."""
    text: str = ""
    """One sentence for people."""
    attempt: int = 0
    nodes: list[str] = field(default_factory=list)
    scores: dict[str, int] = field(default_factory=dict)
    """Score terms of a placement, in thousandths."""
    reason: str = ""
    """Reason of a failure: "exit_code", "node_failure", ..."""
    exit_code: int | None = None


@dataclass(frozen=True, kw_only=True)
class ListEventsResponse(Record):
    id: str = ""
    events: list[AllocationEvent] = field(default_factory=list)
    omitted: int = 0
    """Number of events that are no longer stored."""
    log_index: str = ""


@dataclass(frozen=True, kw_only=True)
class Notice(Record):
    key: str = ""
    """Kind and subject: "budget_exhausted/physics"."""
    kind: str = ""
    at: datetime | None = None
    text: str = ""
    tenant: str = ""
    user: str = ""
    allocation_id: str = ""
    node: str = ""
    cleared_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ListNoticesResponse(Record):
    notices: list[Notice] = field(default_factory=list)
    """Newest first."""
    log_index: str = ""
