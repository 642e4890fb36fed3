"""The control plane itself: its members, its log and its backups."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["Backup", "BackupCheck", "BackupVerification", "ClusterStatus", "Health", "LeaderTransfer", "Member"]


@dataclass(frozen=True, kw_only=True)
class Health:
    status: str = ""
    server: str = ""
    version: str = ""
    leader: str = ""
    is_leader: bool = False
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Member:
    id: str = ""
    address: str = ""
    leader: bool = False
    healthy: bool = False
    applied_index: str = ""
    """How far its copy of the state is; empty when it does not answer."""
    lag: int = 0
    server_version: str = ""
    etcd: dict[str, Any] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)
    """Serial number and end of the certificate that it shows; empty without TLS."""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ClusterStatus:
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
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LeaderTransfer:
    leader: str = ""
    term: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Backup:
    source: str = ""
    """A path on the server, or s3://bucket/key."""
    created_at: datetime | None = None
    log_index: str = ""
    term: str = ""
    state_hash: str = ""
    sha256: str = ""
    bytes: float = 0.0
    allocations: int = 0
    nodes: int = 0
    history_records: int = 0
    audit_records: int = 0
    server_version: str = ""
    format: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BackupCheck:
    name: str = ""
    ok: bool = False
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class BackupVerification:
    ok: bool = False
    backup: Backup | None = None
    checks: list[BackupCheck] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
