"""Allocations, and what is answered about changes to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..state import State

__all__ = ["Allocation", "Cancelled", "Dependency", "Hold", "NodeProgress", "Submitted", "TaskGroupStatus"]


@dataclass(frozen=True, kw_only=True)
class Dependency:
    ref: str = ""
    condition: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeProgress:
    node: str = ""
    state: State = State("pending")
    exit_code: int | None = None
    message: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TaskGroupStatus:
    range: dict[str, int | str] = field(default_factory=dict)
    size: int = 0
    waiting: int = 0
    """Not yet in the queue."""
    pending: int = 0
    running: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Hold:
    kind: str = ""
    """``user``: its owner releases it; ``admin``: somebody who administers it."""
    by: str = ""
    since: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Allocation:
    id: str = ""
    state: State = State("pending")
    spec: dict[str, Any] = field(default_factory=dict)
    """In full form."""
    user: str = ""
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    nodes: list[str] = field(default_factory=list)
    topology_groups: list[str] = field(default_factory=list)
    attempt: int = 0
    requeues: int = 0
    preemptions: int = 0
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    pending_reasons: list[str] = field(default_factory=list)
    estimated_start: datetime | None = None
    progress: list[NodeProgress] = field(default_factory=list)
    backfilled: bool = False
    scores: dict[str, int] = field(default_factory=dict)
    """In thousandths, by factor."""
    group: TaskGroupStatus | None = None
    dag_id: str = ""
    unmet: list[Dependency] = field(default_factory=list)
    hold: Hold | None = None
    """Somebody wants it to wait."""
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.spec.get("name") or "")

    @property
    def tenant(self) -> str:
        return str(self.spec.get("tenant") or "")


@dataclass(frozen=True, kw_only=True)
class Submitted:
    id: str = ""
    state: State = State("pending")
    warnings: list[str] = field(default_factory=list)
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cancelled:
    id: str = ""
    state: State = State("cancelled")
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
