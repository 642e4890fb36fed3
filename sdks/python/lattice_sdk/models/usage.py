"""What has been used. Days are UTC; figures include work that still runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["Budget", "DayUsage", "RunningUsage", "ShareOfUsage", "Usage"]


@dataclass(frozen=True, kw_only=True)
class RunningUsage:
    allocations: int = 0
    nodes: int = 0
    gpus: int = 0


@dataclass(frozen=True, kw_only=True)
class Budget:
    kind: str = ""
    period_days: int = 0
    hours: float = 0.0
    used_hours: float = 0.0
    remaining_hours: float = 0.0
    percent: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DayUsage:
    day: str = ""
    node_hours: float = 0.0
    gpu_hours: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ShareOfUsage:
    """One user's, or one tenant's; the other name is empty."""

    user: str = ""
    tenant: str = ""
    node_hours: float = 0.0
    gpu_hours: float = 0.0
    running: RunningUsage = RunningUsage()


@dataclass(frozen=True, kw_only=True)
class Usage:
    tenant: str = ""
    """Empty: several tenants together."""
    user: str = ""
    """Empty: all users."""
    since: str = ""
    until: str = ""
    days: int = 0
    as_of: datetime | None = None
    node_hours: float = 0.0
    gpu_hours: float = 0.0
    running: RunningUsage = RunningUsage()
    budgets: list[Budget] = field(default_factory=list)
    share: float | None = None
    fair_share_target: float | None = None
    burst_allowance: float | None = None
    by_day: list[DayUsage] = field(default_factory=list)
    by_user: list[ShareOfUsage] = field(default_factory=list)
    by_tenant: list[ShareOfUsage] = field(default_factory=list)
    users: int = 0
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
