"""Why something waits, what submitting would do, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..state import State

__all__ = ["Cause", "Explanation", "Plan", "Suggestion", "Timeline", "TimelineEntry"]


@dataclass(frozen=True, kw_only=True)
class Cause:
    code: str = ""
    text: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A change with which it would start sooner."""

    kind: str = ""
    text: str = ""
    change: dict[str, str] = field(default_factory=dict)
    starts_at: datetime | None = None
    starts_now: bool = False
    tried: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Explanation:
    id: str = ""
    state: State = State("pending")
    vcluster: str = ""
    tenant: str = ""
    user: str = ""
    summary: str = ""
    as_of: datetime | None = None
    causes: list[Cause] = field(default_factory=list)
    nodes: dict[str, Any] = field(default_factory=dict)
    queue: dict[str, Any] = field(default_factory=dict)
    tenant_state: list[str] = field(default_factory=list)
    sooner: list[Suggestion] = field(default_factory=list)
    estimated_start: datetime | None = None
    estimate_error_seconds: float | None = None
    placed: dict[str, Any] = field(default_factory=dict)
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Plan:
    starts_now: bool = False
    estimated_start: datetime | None = None
    nodes: list[str] = field(default_factory=list)
    backfilled: bool = False
    scores: dict[str, int] = field(default_factory=dict)
    causes: list[Cause] = field(default_factory=list)
    would_preempt: list[dict[str, Any]] = field(default_factory=list)
    sooner: list[Suggestion] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tenant: str = ""
    vcluster: str = ""
    position: int = 0
    queue_length: int = 0
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TimelineEntry:
    at: datetime | None = None
    kind: str = ""
    text: str = ""
    attempt: int = 0
    nodes: list[str] = field(default_factory=list)
    scores: dict[str, int] = field(default_factory=dict)
    starts_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Timeline:
    id: str = ""
    entries: list[TimelineEntry] = field(default_factory=list)
    left_out: int = 0
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
