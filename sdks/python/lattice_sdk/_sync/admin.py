# Made from admin.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""The control plane itself: health, members, backups and the signals that scheduling heeds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from ..call import Call, at, change, read
from ..decode import decode
from ..models.cluster import Backup, BackupVerification, ClusterStatus, Health, LeaderTransfer, Member
from .caller import Caller

__all__ = ["AdminCalls"]

T = TypeVar("T")

BACKUP_WITHIN = 3600.0
"""Backups take as long as the state is large."""


class AdminCalls:
    _caller: Caller

    def health(self) -> Health:
        return self._caller.send(read("/healthz", Health))

    def ready(self) -> bool:
        """Serving and caught up; raises the server's problem when it is not."""
        return self._caller.send(read("/readyz", parse=lambda data: data.get("ready") is True))

    def auth_discovery(self) -> dict[str, Any]:
        """How to log in here."""
        return self._caller.send(read(at("auth", "discovery")))

    def cluster_status(self) -> ClusterStatus:
        return self._caller.send(read(at("raft", "status"), ClusterStatus))

    def add_member(self, id: str, peer_address: str, *, request_id: str | None = None) -> list[Member]:
        body = {"id": id, "peer_address": peer_address}
        return self._caller.send(
            change("POST", at("raft", "members"), body, parse=_members, request_id=request_id)
        )

    def remove_member(self, id: str, *, request_id: str | None = None) -> list[Member]:
        return self._caller.send(
            change("DELETE", at("raft", "members", id), parse=_members, request_id=request_id)
        )

    def transfer_leader(self, to: str | None = None, *, request_id: str | None = None) -> LeaderTransfer:
        """Without a name: to whichever other server is furthest."""
        path = at("raft", "transfer-leader")
        return self._caller.send(change("POST", path, {"to": to}, kind=LeaderTransfer, request_id=request_id))

    def create_backup(self, destination: str | None = None, *, request_id: str | None = None) -> Backup:
        """``destination``: a folder of the server or s3://bucket/prefix; absent: as configured."""
        return self._caller.send(_backup_call("backup", {"destination": destination}, Backup, request_id))

    def list_backups(self, destination: str | None = None) -> list[Backup]:
        return self._caller.send(
            read(
                at("admin", "backups"),
                parse=lambda data: [decode(Backup, one) for one in data.get("backups") or []],
                destination=destination,
            )
        )

    def verify_backup(self, source: str | None = None) -> BackupVerification:
        """Absent: the newest. A backup that fails is an answer, not an error."""
        return self._caller.send(_backup_call("backup/verify", {"source": source}, BackupVerification, False))

    def restore_backup(self, source: str) -> dict[str, Any]:
        """Into a cluster that is empty. Asked for again, it goes on where it stopped."""
        return self._caller.send(_backup_call("restore", {"source": source}, None, False))

    def get_config(self, key: str | None = None) -> dict[str, Any]:
        """Settings in force by name: one, a section, or all."""
        answer: dict[str, Any] = self._caller.send(read(at("admin", "config"), key=key))
        return {one["key"]: json.loads(one["value"]) for one in answer.get("settings", [])}

    def set_config(self, key: str, value: Any, *, request_id: str | None = None) -> None:
        """Changes a setting on all servers, at once and for good."""
        body = {"value": json.dumps(value)}
        self._caller.send(change("PUT", at("admin", "config", key), body, request_id=request_id))

    def reset_config(self, key: str, *, request_id: str | None = None) -> None:
        """Back to what each server's file says."""
        self._caller.send(change("PUT", at("admin", "config", key), {"reset": True}, request_id=request_id))

    def scheduler_status(self, vcluster: str | None = None) -> dict[str, Any]:
        """When the leader's scheduler last looked at each vCluster, and with what result."""
        return self._caller.send(read(at("admin", "scheduler"), vcluster=vcluster))

    def server_metrics(
        self, component: str | None = None, *, duration_seconds: int | None = None
    ) -> dict[str, Any]:
        """What a server counts about itself; with a duration, how that came about as far as it remembers."""
        return self._caller.send(
            read(at("admin", "metrics"), component=component, duration_seconds=duration_seconds)
        )

    def get_signals(self) -> dict[str, Any]:
        return self._caller.send(read(at("admin", "signals")))

    def set_signals(
        self, signals: Mapping[str, Any], *, valid_seconds: int | None = None, request_id: str | None = None
    ) -> dict[str, Any]:
        """Replaces all that was set before, for an hour unless stated."""
        body = {"signals": dict(signals), "valid_seconds": valid_seconds}
        return self._caller.send(change("PUT", at("admin", "signals"), body, request_id=request_id))

    def query_audit(self, **filters: Any) -> dict[str, Any]:
        """Filters as the API names them: user, allocation, node, tenant, event_type, since, until."""
        return self._caller.send(read(at("audit"), **filters))


def _backup_call(
    path: str, body: Mapping[str, Any], kind: type[T] | None, request_id: str | None | bool
) -> Call[T]:
    return change("POST", f"{at('admin')}/{path}", body, kind=kind, request_id=request_id, timeout=BACKUP_WITHIN)


def _members(data: dict[str, Any]) -> list[Member]:
    return [decode(Member, one) for one in data.get("members") or []]
