"""Network domains, and the roles in tenants that the cluster keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["Grant", "NetworkDomain"]


@dataclass(frozen=True, kw_only=True)
class NetworkDomain:
    tenant: str = ""
    name: str = ""
    vni: int = 0
    state: str = ""
    """active, or draining: without members, and released when its grace is over."""
    allocation_ids: list[str] = field(default_factory=list)
    grace_seconds: int = 0
    created_at: datetime | None = None
    released_at: datetime | None = None
    private: bool = False
    sensitive: bool = False
    fabric: str = ""
    fabric_problem: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Grant:
    tenant: str = ""
    user: str = ""
    role: str = ""
    """tenant_admin or claiming_user."""
    extra: dict[str, Any] = field(default_factory=dict)
