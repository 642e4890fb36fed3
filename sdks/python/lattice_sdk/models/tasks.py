"""Sessions, and tasks that are started inside an allocation."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..state import State

__all__ = [
    "CreatedSession",
    "LaunchEnd",
    "LaunchEvent",
    "LaunchStarted",
    "NodeTasks",
    "Session",
    "TaskEnd",
    "TaskOutput",
]


@dataclass(frozen=True, kw_only=True)
class Session:
    id: str = ""
    allocation_id: str = ""
    user: str = ""
    state: State = State("pending")
    created_at: datetime | None = None
    owns_allocation: bool = False
    nodes: list[str] = field(default_factory=list)
    pending_reasons: list[str] = field(default_factory=list)
    estimated_start: datetime | None = None
    reason: str = ""
    message: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CreatedSession:
    session_id: str = ""
    allocation_id: str = ""
    state: State = State("pending")
    warnings: list[str] = field(default_factory=list)
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.session_id


@dataclass(frozen=True, kw_only=True)
class NodeTasks:
    node: str = ""
    first_rank: int = 0
    tasks: int = 0


@dataclass(frozen=True, kw_only=True)
class LaunchStarted:
    launch_id: str = ""
    layout: list[NodeTasks] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TaskOutput:
    rank: int = 0
    stream: str = "stdout"
    data: bytes = b""


@dataclass(frozen=True, kw_only=True)
class TaskEnd:
    rank: int = 0
    node: str = ""
    exit_code: int = 0
    signal: int = 0
    message: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LaunchEnd:
    """The last one. ``reason`` is empty when every task ended well."""

    exit_code: int = 0
    reason: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


LaunchEvent = LaunchStarted | TaskOutput | TaskEnd | LaunchEnd
