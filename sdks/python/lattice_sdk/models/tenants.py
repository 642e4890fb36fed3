"""Tenants and vClusters, with their limits and settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["Quota", "Tenant", "VCluster"]


@dataclass(frozen=True, kw_only=True)
class Quota:
    """None: no limit."""

    max_nodes: int | None = None
    max_concurrent_allocations: int | None = None
    fair_share_target: float | None = None
    gpu_hours_budget: float | None = None
    node_hours_budget: float | None = None
    burst_allowance: float | None = None
    max_network_domains: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Tenant:
    id: str = ""
    description: str = ""
    quota: Quota = Quota()
    max_preemption_class: int = 0
    created_at: datetime | None = None
    automatic: bool = False
    nodes_in_use: int = 0
    running_allocations: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class VCluster:
    id: str = ""
    description: str = ""
    tenant: str = ""
    """Empty: it serves all."""
    scheduler: str = ""
    weights: dict[str, float] = field(default_factory=dict)
    cycle_interval_seconds: int = 0
    backfill_depth: int = 0
    default_walltime_seconds: int = 0
    max_walltime_seconds: int = 0
    """0: no limit."""
    is_default: bool = False
    created_at: datetime | None = None
    pending: int = 0
    running: int = 0
    preempts: bool = False
    preemptible: str = ""
    borrows: bool = False
    lending: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
