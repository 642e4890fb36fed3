# Written by tools/generate-sdk.mjs from proto/lattice/v1. Do not edit.

"""Every unary call of the API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..call import at, change, items, part, read
from ..models.generated import (
    Accounting,
    Allocation,
    AllocationEvent,
    Backup,
    BackupVerification,
    Cancelled,
    CancelledDag,
    CheckpointStatus,
    ClusterStatus,
    Comparison,
    CreateEnrolmentResponse,
    Dag,
    DagGraph,
    Diagnostics,
    Enrolment,
    Explanation,
    Grant,
    Image,
    LeaderTransfer,
    ListDomainsResponse,
    Member,
    NetworkDomain,
    Node,
    NodeCache,
    NodeCondition,
    Notice,
    QueryAuditResponse,
    Queue,
    RestoreBackupResponse,
    ResumeResponse,
    RotateAuditKeyResponse,
    RotateJobKeyResponse,
    SchedulerStatus,
    ServerMetrics,
    Service,
    ServiceSummary,
    Session,
    Signals,
    Tenant,
    Timeline,
    Usage,
    VCluster,
    VerifyAuditResponse,
)
from ..state import State
from .caller import Caller
from .pages import each_item, listed

__all__ = ["GeneratedCalls"]


class GeneratedCalls:
    _caller: Caller

    async def add_grant(self, tenant: str, user: str, role: str, *, request_id: str | None = None) -> None:
        """Grants a user a role in a tenant. Idempotent."""
        await self._caller.send(
            change(
                "POST",
                at("grants"),
                {"tenant": tenant, "user": user, "role": role},
                request_id=request_id,
            )
        )

    async def remove_grant(self, tenant: str, user: str, role: str, *, request_id: str | None = None) -> None:
        """Revokes a grant. Applies to the next call, and to open streams within five minutes."""
        await self._caller.send(change("DELETE", at("grants", tenant, role, user), {}, request_id=request_id))

    async def list_grants(
        self,
        tenant: str | None = None,
        user: str | None = None,
        *,
        limit: int | None = None,
    ) -> list[Grant]:
        """Lists grants."""
        filters: dict[str, Any] = {"tenant": tenant, "user": user}
        return await listed(self._caller, at("grants"), "grants", Grant, filters, limit)

    def iter_grants(
        self,
        tenant: str | None = None,
        user: str | None = None,
        *,
        limit: int | None = None,
    ) -> AsyncIterator[Grant]:
        """Iterates over ``list_grants`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {"tenant": tenant, "user": user}
        return each_item(self._caller, at("grants"), "grants", Grant, filters, limit)

    async def rotate_job_key(
        self,
        *,
        keep_seconds: int | None = None,
        keep: str | None = None,
        request_id: str | None = None,
    ) -> RotateJobKeyResponse:
        """Creates a new signing key for job tokens. Tokens of the previous key stay valid for the requested time."""
        return await self._caller.send(
            change(
                "POST",
                at("admin", "job-key", "rotate"),
                {"keep_seconds": keep_seconds, "keep": keep},
                kind=RotateJobKeyResponse,
                request_id=request_id,
            )
        )

    async def rotate_audit_key(
        self,
        *,
        lost: bool | None = None,
        request_id: str | None = None,
    ) -> RotateAuditKeyResponse:
        """Creates a new key for the signatures of audit records. The old key endorses it, and its public key is
        kept."""
        return await self._caller.send(
            change(
                "POST",
                at("admin", "audit-key", "rotate"),
                {"lost": lost},
                kind=RotateAuditKeyResponse,
                request_id=request_id,
            )
        )

    async def create_enrolment(
        self,
        max_nodes: int,
        *,
        valid_seconds: int | None = None,
        valid: str | None = None,
        networks: str | Sequence[str] | None = None,
    ) -> CreateEnrolmentResponse:
        """Creates a token with which new nodes obtain their first certificates. Shown once."""
        return await self._caller.send(
            change(
                "POST",
                at("admin", "enrolments"),
                {"max_nodes": max_nodes, "valid_seconds": valid_seconds, "valid": valid, "networks": networks},
                kind=CreateEnrolmentResponse,
                request_id=False,
            )
        )

    async def list_enrolments(self) -> list[Enrolment]:
        """Lists the enrolments and the nodes that used them."""
        return await self._caller.send(read(at("admin", "enrolments"), parse=items("enrolments", Enrolment)))

    async def remove_enrolment(self, enrolment_id: str, *, request_id: str | None = None) -> None:
        """Revokes the token of an enrolment. Issued certificates stay valid."""
        await self._caller.send(change("DELETE", at("admin", "enrolments", enrolment_id), {}, request_id=request_id))

    async def query_audit(
        self,
        *,
        user: str | None = None,
        allocation: str | None = None,
        node: str | None = None,
        tenant: str | None = None,
        data_path: str | None = None,
        event_type: str | None = None,
        scope: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        newest_first: bool | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
    ) -> QueryAuditResponse:
        """Searches the audit log. It is append-only, and each record contains the hash of the previous one."""
        return await self._caller.send(
            read(
                at("audit"),
                kind=QueryAuditResponse,
                user=user,
                allocation=allocation,
                node=node,
                tenant=tenant,
                data_path=data_path,
                event_type=event_type,
                scope=scope,
                since=since,
                until=until,
                newest_first=newest_first,
                page_size=page_size,
                page_token=page_token,
                from_=from_,
                to=to,
            )
        )

    async def verify_audit(self) -> VerifyAuditResponse:
        """Verifies the hash chain and the signatures of the audit log."""
        return await self._caller.send(read(at("audit", "verify"), kind=VerifyAuditResponse))

    async def create_tenant(
        self,
        id: str,
        *,
        description: str | None = None,
        quota: Mapping[str, Any] | None = None,
        max_preemption_class: int | None = None,
        request_id: str | None = None,
    ) -> Tenant:
        """Creates a tenant."""
        return await self._caller.send(
            change(
                "POST",
                at("tenants"),
                {"id": id, "description": description, "quota": quota, "max_preemption_class": max_preemption_class},
                parse=part("tenant", Tenant),
                request_id=request_id,
            )
        )

    async def get_tenant(self, id: str) -> Tenant:
        """Returns one tenant."""
        return await self._caller.send(read(at("tenants", id), kind=Tenant))

    async def list_tenants(self, *, limit: int | None = None) -> list[Tenant]:
        """Lists tenants."""
        filters: dict[str, Any] = {}
        return await listed(self._caller, at("tenants"), "tenants", Tenant, filters, limit)

    def iter_tenants(self, *, limit: int | None = None) -> AsyncIterator[Tenant]:
        """Iterates over ``list_tenants`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {}
        return each_item(self._caller, at("tenants"), "tenants", Tenant, filters, limit)

    async def delete_tenant(self, id: str, *, request_id: str | None = None) -> None:
        """Deletes a tenant. Rejected while it has work or vClusters."""
        await self._caller.send(change("DELETE", at("tenants", id), {}, request_id=request_id))

    async def create_vcluster(
        self,
        id: str,
        *,
        description: str | None = None,
        tenant: str | None = None,
        scheduler: str | None = None,
        weights: Mapping[str, Any] | None = None,
        cycle_interval_seconds: int | None = None,
        cycle_interval: str | None = None,
        backfill_depth: int | None = None,
        default_walltime_seconds: int | None = None,
        default_walltime: str | None = None,
        max_walltime_seconds: int | None = None,
        max_walltime: str | None = None,
        preempts: bool | None = None,
        preemptible: str | None = None,
        borrows: bool | None = None,
        lending: Mapping[str, Any] | None = None,
        near_completion_threshold_seconds: int | None = None,
        near_completion_threshold: str | None = None,
        shares_nodes: bool | None = None,
        max_victims: int | None = None,
        request_id: str | None = None,
    ) -> VCluster:
        """Creates a vCluster."""
        return await self._caller.send(
            change(
                "POST",
                at("vclusters"),
                {"id": id, "description": description, "tenant": tenant, "scheduler": scheduler, "weights": weights, "cycle_interval_seconds": cycle_interval_seconds, "cycle_interval": cycle_interval, "backfill_depth": backfill_depth, "default_walltime_seconds": default_walltime_seconds, "default_walltime": default_walltime, "max_walltime_seconds": max_walltime_seconds, "max_walltime": max_walltime, "preempts": preempts, "preemptible": preemptible, "borrows": borrows, "lending": lending, "near_completion_threshold_seconds": near_completion_threshold_seconds, "near_completion_threshold": near_completion_threshold, "shares_nodes": shares_nodes, "max_victims": max_victims},
                parse=part("vcluster", VCluster),
                request_id=request_id,
            )
        )

    async def get_vcluster(self, id: str) -> VCluster:
        """Returns one vCluster."""
        return await self._caller.send(read(at("vclusters", id), kind=VCluster))

    async def list_vclusters(self, *, limit: int | None = None) -> list[VCluster]:
        """Lists vClusters."""
        filters: dict[str, Any] = {}
        return await listed(self._caller, at("vclusters"), "vclusters", VCluster, filters, limit)

    def iter_vclusters(self, *, limit: int | None = None) -> AsyncIterator[VCluster]:
        """Iterates over ``list_vclusters`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {}
        return each_item(self._caller, at("vclusters"), "vclusters", VCluster, filters, limit)

    async def update_vcluster(
        self,
        id: str,
        *,
        description: str | None = None,
        weights: Mapping[str, Any] | None = None,
        cycle_interval_seconds: int | None = None,
        cycle_interval: str | None = None,
        backfill_depth: int | None = None,
        default_walltime_seconds: int | None = None,
        default_walltime: str | None = None,
        max_walltime_seconds: int | None = None,
        max_walltime: str | None = None,
        preempts: bool | None = None,
        preemptible: str | None = None,
        borrows: bool | None = None,
        lending: Mapping[str, Any] | None = None,
        near_completion_threshold_seconds: int | None = None,
        near_completion_threshold: str | None = None,
        shares_nodes: bool | None = None,
        max_victims: int | None = None,
        request_id: str | None = None,
    ) -> VCluster:
        """Changes the policy of a vCluster."""
        return await self._caller.send(
            change(
                "PATCH",
                at("vclusters", id),
                {"description": description, "weights": weights, "cycle_interval_seconds": cycle_interval_seconds, "cycle_interval": cycle_interval, "backfill_depth": backfill_depth, "default_walltime_seconds": default_walltime_seconds, "default_walltime": default_walltime, "max_walltime_seconds": max_walltime_seconds, "max_walltime": max_walltime, "preempts": preempts, "preemptible": preemptible, "borrows": borrows, "lending": lending, "near_completion_threshold_seconds": near_completion_threshold_seconds, "near_completion_threshold": near_completion_threshold, "shares_nodes": shares_nodes, "max_victims": max_victims},
                parse=part("vcluster", VCluster),
                request_id=request_id,
            )
        )

    async def delete_vcluster(self, id: str, *, request_id: str | None = None) -> None:
        """Deletes a vCluster. Rejected while it has work or home nodes, and for the default vCluster."""
        await self._caller.send(change("DELETE", at("vclusters", id), {}, request_id=request_id))

    async def vcluster_queue(self, id: str, *, page_size: int | None = None, page_token: str | None = None) -> Queue:
        """Returns the queue of a vCluster in scheduling order."""
        return await self._caller.send(
            read(
                at("vclusters", id, "queue"),
                kind=Queue,
                page_size=page_size,
                page_token=page_token,
            )
        )

    async def scheduler_status(self, vcluster: str | None = None) -> SchedulerStatus:
        """Returns when the leader's scheduler last ran for each vCluster, how long it took, and with what result."""
        return await self._caller.send(read(at("admin", "scheduler"), kind=SchedulerStatus, vcluster=vcluster))

    async def server_metrics(
        self,
        component: str | None = None,
        *,
        duration_seconds: int | None = None,
        duration: str | None = None,
    ) -> ServerMetrics:
        """Returns a server's own metrics, current and over the last hours."""
        return await self._caller.send(
            read(
                at("admin", "metrics"),
                kind=ServerMetrics,
                component=component,
                duration_seconds=duration_seconds,
                duration=duration,
            )
        )

    async def accounting(
        self,
        *,
        tenant: str | None = None,
        user: str | None = None,
        vcluster: str | None = None,
        project: str | None = None,
        state: str | Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
    ) -> Accounting:
        """Lists the resource usage of finished allocations."""
        return await self._caller.send(
            read(
                at("accounting"),
                kind=Accounting,
                tenant=tenant,
                user=user,
                vcluster=vcluster,
                project=project,
                state=state,
                since=since,
                until=until,
                page_size=page_size,
                page_token=page_token,
            )
        )

    async def tenant_usage(
        self,
        id: str,
        *,
        user: str | None = None,
        days: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Usage:
        """Returns the usage of a tenant, including running work, and what is left of its budgets."""
        return await self._caller.send(
            read(
                at("tenants", id, "usage"),
                kind=Usage,
                user=user,
                days=days,
                since=since,
                until=until,
            )
        )

    async def usage(
        self,
        *,
        user: str | None = None,
        tenant: str | None = None,
        days: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Usage:
        """Returns the usage of a user."""
        return await self._caller.send(
            read(
                at("usage"),
                kind=Usage,
                user=user,
                tenant=tenant,
                days=days,
                since=since,
                until=until,
            )
        )

    async def cluster_status(self) -> ClusterStatus:
        """Returns the leader, the progress and the size of the log."""
        return await self._caller.send(read(at("raft", "status"), kind=ClusterStatus))

    async def add_member(
        self,
        id: str,
        peer_address: str,
        *,
        replace: bool | None = None,
        cluster_id: str | None = None,
        cluster_generation: float | None = None,
        request_id: str | None = None,
    ) -> list[Member]:
        """Announces a server that will be started with --join. Idempotent."""
        return await self._caller.send(
            change(
                "POST",
                at("raft", "members"),
                {"id": id, "peer_address": peer_address, "replace": replace, "cluster_id": cluster_id, "cluster_generation": cluster_generation},
                parse=items("members", Member),
                request_id=request_id,
            )
        )

    async def remove_member(self, id: str, *, request_id: str | None = None) -> list[Member]:
        """Removes a server. Rejected if the remaining members would have no majority that responds."""
        return await self._caller.send(
            change(
                "DELETE",
                at("raft", "members", id),
                {},
                parse=items("members", Member),
                request_id=request_id,
            )
        )

    async def transfer_leader(self, to: str | None = None, *, request_id: str | None = None) -> LeaderTransfer:
        """Transfers leadership. Returns when the other server leads."""
        return await self._caller.send(
            change(
                "POST",
                at("raft", "transfer-leader"),
                {"to": to},
                kind=LeaderTransfer,
                request_id=request_id,
            )
        )

    async def create_backup(self, destination: str | None = None, *, request_id: str | None = None) -> Backup:
        """Writes the whole state and the history to one file, on the server or in the object store."""
        return await self._caller.send(
            change(
                "POST",
                at("admin", "backup"),
                {"destination": destination},
                kind=Backup,
                request_id=request_id,
                timeout=3600.0,
            )
        )

    async def list_backups(self, destination: str | None = None) -> list[Backup]:
        """Lists the backups that this server can read, newest first."""
        return await self._caller.send(
            read(
                at("admin", "backups"),
                parse=items("backups", Backup),
                timeout=3600.0,
                destination=destination,
            )
        )

    async def verify_backup(self, source: str | None = None) -> BackupVerification:
        """Verifies checksums, metadata, every record and the state hash. Default: the newest backup."""
        return await self._caller.send(
            change(
                "POST",
                at("admin", "backup", "verify"),
                {"source": source},
                kind=BackupVerification,
                request_id=False,
                repeatable=True,
                timeout=3600.0,
            )
        )

    async def restore_backup(
        self,
        source: str,
        *,
        path: str | None = None,
        cluster_id: str | None = None,
    ) -> RestoreBackupResponse:
        """Restores a backup into an empty cluster."""
        return await self._caller.send(
            change(
                "POST",
                at("admin", "restore"),
                {"source": source, "path": path, "cluster_id": cluster_id},
                kind=RestoreBackupResponse,
                request_id=False,
                timeout=3600.0,
            )
        )

    async def set_signals(
        self,
        signals: Mapping[str, Any],
        *,
        valid_seconds: int | None = None,
        valid: str | None = None,
        request_id: str | None = None,
    ) -> Signals:
        """Sets external signals for the scheduler: energy price, power, storage, congestion and others."""
        return await self._caller.send(
            change(
                "PUT",
                at("admin", "signals"),
                {"signals": signals, "valid_seconds": valid_seconds, "valid": valid},
                kind=Signals,
                request_id=request_id,
            )
        )

    async def get_signals(self) -> Signals:
        """Returns the external signals in force."""
        return await self._caller.send(read(at("admin", "signals"), kind=Signals))

    async def list_services(self, *, tenant: str | None = None) -> list[ServiceSummary]:
        """Lists the services that running allocations expose. The header x-lattice-tenant restricts the list to
        one tenant."""
        return await self._caller.send(read(at("services"), parse=items("services", ServiceSummary), tenant=tenant))

    async def get_service(self, name: str, *, tenant: str | None = None) -> Service:
        """Returns the endpoints of a service. The header x-lattice-tenant restricts the lookup to one tenant."""
        return await self._caller.send(read(at("services", name), kind=Service, tenant=tenant))

    async def status(self, id: str) -> Allocation:
        """Returns one allocation, live or finished."""
        return await self._caller.send(read(at("allocations", id), kind=Allocation))

    async def list_allocations(
        self,
        *,
        state: str | Sequence[str] | None = None,
        user: str | None = None,
        tenant: str | None = None,
        vcluster: str | None = None,
        node: str | None = None,
        name: str | None = None,
        expand: bool | None = None,
        group_id: str | None = None,
        tag: str | Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        project: str | None = None,
        reason_code: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Allocation]:
        """Lists allocations, newest first."""
        filters: dict[str, Any] = {
            "state": state,
            "user": user,
            "tenant": tenant,
            "vcluster": vcluster,
            "node": node,
            "name": name,
            "expand": expand,
            "group_id": group_id,
            "tag": tag,
            "since": since,
            "until": until,
            "project": project,
            "reason_code": reason_code,
        }
        return await listed(self._caller, at("allocations"), "allocations", Allocation, filters, limit)

    def iter_allocations(
        self,
        *,
        state: str | Sequence[str] | None = None,
        user: str | None = None,
        tenant: str | None = None,
        vcluster: str | None = None,
        node: str | None = None,
        name: str | None = None,
        expand: bool | None = None,
        group_id: str | None = None,
        tag: str | Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        project: str | None = None,
        reason_code: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[Allocation]:
        """Iterates over ``list_allocations`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {
            "state": state,
            "user": user,
            "tenant": tenant,
            "vcluster": vcluster,
            "node": node,
            "name": name,
            "expand": expand,
            "group_id": group_id,
            "tag": tag,
            "since": since,
            "until": until,
            "project": project,
            "reason_code": reason_code,
        }
        return each_item(self._caller, at("allocations"), "allocations", Allocation, filters, limit)

    async def cancel(self, id: str, *, reason: str | None = None, request_id: str | None = None) -> Cancelled:
        """Cancels an allocation, a task group or some of its elements. Running work receives SIGTERM, then
        SIGKILL."""
        return await self._caller.send(
            change(
                "POST",
                at("allocations", id, "cancel"),
                {"reason": reason},
                kind=Cancelled,
                request_id=request_id,
            )
        )

    async def update(
        self,
        id: str,
        *,
        walltime_seconds: int | None = None,
        walltime: str | None = None,
        preemption_class: int | None = None,
        name: str | None = None,
        tags: Mapping[str, str] | None = None,
        telemetry_mode: str | None = None,
        telemetry_seconds: int | None = None,
        service: Mapping[str, Any] | None = None,
        hold: bool | None = None,
        set_tags: Mapping[str, str] | None = None,
        remove_tags: str | Sequence[str] | None = None,
        request_id: str | None = None,
    ) -> Allocation:
        """Changes a pending or running allocation: walltime, priority class, tags, hold, telemetry, or the program
        of a service."""
        return await self._caller.send(
            change(
                "PATCH",
                at("allocations", id),
                {"walltime_seconds": walltime_seconds, "walltime": walltime, "preemption_class": preemption_class, "name": name, "tags": tags, "telemetry_mode": telemetry_mode, "telemetry_seconds": telemetry_seconds, "service": service, "hold": hold, "set_tags": set_tags, "remove_tags": remove_tags},
                parse=part("allocation", Allocation),
                request_id=request_id,
            )
        )

    async def explain(self, id: str) -> Explanation:
        """Explains why an allocation is pending, with node counts and verified suggestions, or why it started
        where and when it did."""
        return await self._caller.send(read(at("allocations", id, "explain"), kind=Explanation))

    async def timeline(self, id: str) -> Timeline:
        """Returns the scheduling decisions made about an allocation so far."""
        return await self._caller.send(read(at("allocations", id, "timeline"), kind=Timeline))

    async def diagnostics(self, id: str, section: str | None = None) -> Diagnostics:
        """Returns the known state of the network, storage, GPUs and nodes under an allocation."""
        return await self._caller.send(read(at("allocations", id, "diagnostics"), kind=Diagnostics, section=section))

    async def compare_metrics(
        self,
        ids: str | Sequence[str],
        *,
        metrics: str | Sequence[str] | None = None,
        align: str | None = None,
    ) -> Comparison:
        """Compares the metrics of two to ten allocations."""
        return await self._caller.send(read(at("compare"), kind=Comparison, ids=ids, metrics=metrics, align=align))

    async def checkpoint(self, id: str, *, request_id: str | None = None) -> CheckpointStatus:
        """Requests a checkpoint of a running allocation, which continues afterwards."""
        return await self._caller.send(
            change(
                "POST",
                at("allocations", id, "checkpoint"),
                {},
                kind=CheckpointStatus,
                request_id=request_id,
            )
        )

    async def checkpoint_status(self, id: str) -> CheckpointStatus:
        """Returns the checkpoints of an allocation and the broker's latest decision."""
        return await self._caller.send(read(at("allocations", id, "checkpoint"), kind=CheckpointStatus))

    async def resume(self, id: str, *, request_id: str | None = None) -> ResumeResponse:
        """Requeues an allocation that was suspended at the end of its walltime."""
        return await self._caller.send(
            change(
                "POST",
                at("allocations", id, "resume"),
                {},
                kind=ResumeResponse,
                request_id=request_id,
            )
        )

    async def list_images(self, *, filter: str | None = None, node: str | None = None) -> list[Image]:
        """Lists the images of the registry, as a node sees it."""
        return await self._caller.send(read(at("images"), parse=items("images", Image), filter=filter, node=node))

    async def inspect_image(self, image: str, *, node: str | None = None) -> Image:
        """Returns the metadata of one image."""
        return await self._caller.send(read(at("images", "inspect"), kind=Image, image=image, node=node))

    async def warm_cache(
        self,
        image: str,
        *,
        nodes: str | Sequence[str] | None = None,
        group: str | None = None,
        sticky: bool | None = None,
        request_id: str | None = None,
    ) -> list[NodeCache]:
        """Loads an image into the caches of nodes. Returns when each node has it or has failed."""
        return await self._caller.send(
            change(
                "POST",
                at("cache", "warm"),
                {"image": image, "nodes": nodes, "group": group, "sticky": sticky},
                parse=items("nodes", NodeCache),
                request_id=request_id,
                timeout=310.0,
            )
        )

    async def cache(self, *, nodes: str | Sequence[str] | None = None, group: str | None = None) -> list[NodeCache]:
        """Returns the contents of node caches."""
        return await self._caller.send(read(at("cache"), parse=items("nodes", NodeCache), nodes=nodes, group=group))

    async def evict_image(
        self,
        image: str,
        *,
        nodes: str | Sequence[str] | None = None,
        group: str | None = None,
        request_id: str | None = None,
    ) -> list[NodeCache]:
        """Removes an image from the caches of nodes. An image in use stays."""
        return await self._caller.send(
            change(
                "POST",
                at("cache", "evict"),
                {"image": image, "nodes": nodes, "group": group},
                parse=items("nodes", NodeCache),
                request_id=request_id,
            )
        )

    async def list_networks(self, tenant: str | None = None) -> ListDomainsResponse:
        """Lists network domains."""
        return await self._caller.send(read(at("networks"), kind=ListDomainsResponse, tenant=tenant))

    async def get_domain(self, name: str, tenant: str | None = None) -> NetworkDomain:
        """Returns one network domain."""
        return await self._caller.send(read(at("networks", name), kind=NetworkDomain, tenant=tenant))

    async def set_domain_grace(
        self,
        name: str,
        grace_seconds: int,
        *,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> NetworkDomain:
        """Sets how long a domain persists without members."""
        return await self._caller.send(
            change(
                "POST",
                at("networks", name, "grace"),
                {"grace_seconds": grace_seconds, "tenant": tenant},
                kind=NetworkDomain,
                request_id=request_id,
            )
        )

    async def list_nodes(
        self,
        *,
        state: str | Sequence[str] | None = None,
        vcluster: str | None = None,
        tenant: str | None = None,
        group: str | None = None,
        limit: int | None = None,
    ) -> list[Node]:
        """Lists nodes."""
        filters: dict[str, Any] = {"state": state, "vcluster": vcluster, "tenant": tenant, "group": group}
        return await listed(self._caller, at("nodes"), "nodes", Node, filters, limit)

    def iter_nodes(
        self,
        *,
        state: str | Sequence[str] | None = None,
        vcluster: str | None = None,
        tenant: str | None = None,
        group: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[Node]:
        """Iterates over ``list_nodes`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {"state": state, "vcluster": vcluster, "tenant": tenant, "group": group}
        return each_item(self._caller, at("nodes"), "nodes", Node, filters, limit)

    async def get_node(self, id: str) -> Node:
        """Returns one node."""
        return await self._caller.send(read(at("nodes", id), kind=Node))

    async def node_condition(self, id: str, *, fresh: bool | None = None) -> NodeCondition:
        """Returns what the node's agent finds on the machine: versions, devices, faults."""
        return await self._caller.send(read(at("nodes", id, "condition"), kind=NodeCondition, fresh=fresh))

    async def drain_node(
        self,
        id: str,
        *,
        reason: str | None = None,
        urgent: bool | None = None,
        request_id: str | None = None,
    ) -> Node:
        """Drains a node: running work finishes, nothing new starts."""
        return await self._caller.send(
            change(
                "POST",
                at("nodes", id, "drain"),
                {"reason": reason, "urgent": urgent},
                parse=part("node", Node),
                request_id=request_id,
            )
        )

    async def undrain_node(self, id: str, *, request_id: str | None = None) -> Node:
        """Returns a draining or drained node to service."""
        return await self._caller.send(
            change(
                "POST",
                at("nodes", id, "undrain"),
                {},
                parse=part("node", Node),
                request_id=request_id,
            )
        )

    async def disable_node(self, id: str, *, reason: str | None = None, request_id: str | None = None) -> Node:
        """Takes a node out of service immediately. Its work is requeued or fails."""
        return await self._caller.send(
            change(
                "POST",
                at("nodes", id, "disable"),
                {"reason": reason},
                parse=part("node", Node),
                request_id=request_id,
            )
        )

    async def enable_node(self, id: str, *, request_id: str | None = None) -> Node:
        """Returns a disabled or quarantined node to service."""
        return await self._caller.send(
            change(
                "POST",
                at("nodes", id, "enable"),
                {},
                parse=part("node", Node),
                request_id=request_id,
            )
        )

    async def assign_node(self, id: str, vcluster: str | None = None, *, request_id: str | None = None) -> Node:
        """Sets the home vCluster of a node, overriding the agent's configuration."""
        return await self._caller.send(
            change(
                "POST",
                at("nodes", id, "assign"),
                {"vcluster": vcluster},
                parse=part("node", Node),
                request_id=request_id,
            )
        )

    async def report_health(
        self,
        id: str,
        status: str,
        *,
        component: str | None = None,
        message: str | None = None,
        request_id: str | None = None,
    ) -> Node:
        """Reports the hardware health of a node, for external monitors such as a BMC poller."""
        return await self._caller.send(
            change(
                "POST",
                at("nodes", id, "health"),
                {"status": status, "component": component, "message": message},
                parse=part("node", Node),
                request_id=request_id,
            )
        )

    async def get_session(self, id: str) -> Session:
        """Returns one session."""
        return await self._caller.send(read(at("sessions", id), kind=Session))

    async def list_sessions(
        self,
        *,
        user: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Session]:
        """Lists sessions."""
        filters: dict[str, Any] = {"user": user, "tenant": tenant}
        return await listed(self._caller, at("sessions"), "sessions", Session, filters, limit)

    def iter_sessions(
        self,
        *,
        user: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[Session]:
        """Iterates over ``list_sessions`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {"user": user, "tenant": tenant}
        return each_item(self._caller, at("sessions"), "sessions", Session, filters, limit)

    async def end_session(
        self,
        id: str,
        *,
        exit_code: int | None = None,
        fail_on_nonzero_exit: bool | None = None,
        request_id: str | None = None,
    ) -> State:
        """Ends a session, and the allocation created for it."""
        return await self._caller.send(
            change(
                "DELETE",
                at("sessions", id),
                {"exit_code": exit_code, "fail_on_nonzero_exit": fail_on_nonzero_exit},
                parse=lambda data: State(data.get("state") or ""),
                request_id=request_id,
            )
        )

    async def get_dag(self, id: str) -> Dag:
        """Returns a DAG with its members."""
        return await self._caller.send(read(at("dags", id), kind=Dag))

    async def dag_graph(self, id: str) -> DagGraph:
        """Returns the members and edges of a DAG."""
        return await self._caller.send(read(at("dags", id, "graph"), kind=DagGraph))

    async def list_dags(
        self,
        *,
        tenant: str | None = None,
        user: str | None = None,
        state: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Dag]:
        """Lists DAGs."""
        filters: dict[str, Any] = {"tenant": tenant, "user": user, "state": state}
        return await listed(self._caller, at("dags"), "dags", Dag, filters, limit)

    def iter_dags(
        self,
        *,
        tenant: str | None = None,
        user: str | None = None,
        state: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[Dag]:
        """Iterates over ``list_dags`` and fetches pages as they are needed."""
        filters: dict[str, Any] = {"tenant": tenant, "user": user, "state": state}
        return each_item(self._caller, at("dags"), "dags", Dag, filters, limit)

    async def cancel_dag(self, id: str, *, reason: str | None = None, request_id: str | None = None) -> CancelledDag:
        """Cancels every member that has not finished."""
        return await self._caller.send(
            change(
                "POST",
                at("dags", id, "cancel"),
                {"reason": reason},
                kind=CancelledDag,
                request_id=request_id,
            )
        )

    async def allocation_events(
        self,
        id: str,
        *,
        after: str | None = None,
        types: str | Sequence[str] | None = None,
    ) -> list[AllocationEvent]:
        """Lists all events of one allocation, oldest first."""
        return await self._caller.send(
            read(
                at("allocations", id, "events"),
                parse=items("events", AllocationEvent),
                cursor=after,
                types=types,
            )
        )

    async def list_notices(self, *, all: bool | None = None, limit: int | None = None) -> list[Notice]:
        """Lists notices for the caller: about its own work, the tenants it administers, and the cluster."""
        return await self._caller.send(read(at("notices"), parse=items("notices", Notice), all=all, limit=limit))