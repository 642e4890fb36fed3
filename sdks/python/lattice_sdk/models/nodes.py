"""Nodes, and the claims of allocations on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..state import State

__all__ = ["Capabilities", "Claim", "Node"]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    cpu_cores: int = 0
    memory_gb: float = 0.0
    gpu_type: str = ""
    gpu_count: int = 0
    features: list[str] = field(default_factory=list)
    hostname: str = ""
    kernel: str = ""
    isolation: str = ""
    hollow: bool = False
    runtimes: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Claim:
    allocation_id: str = ""
    attempt: int = 0
    tenant: str = ""
    vcluster: str = ""
    releasing: bool = False
    exclusive: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Node:
    id: str = ""
    state: State = State("unknown")
    cause: str = ""
    reason: str = ""
    since: datetime | None = None
    capabilities: Capabilities = Capabilities()
    group: str = ""
    conformance: str = ""
    home_vcluster: str = ""
    home_tenant: str = ""
    """Whose its home vCluster is; empty: everybody's."""
    current_vcluster: str = ""
    """Whose work is on it; empty when it is idle."""
    claims: list[Claim] = field(default_factory=list)
    agent_version: str = ""
    last_heartbeat: datetime | None = None
    connected: bool = False
    address: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
