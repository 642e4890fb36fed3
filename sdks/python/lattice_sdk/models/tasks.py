"""Events of tasks launched inside an allocation."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..record import Record

__all__ = [
    "LaunchEnd",
    "LaunchEvent",
    "LaunchStarted",
    "NodeTasks",
    "TaskEnd",
    "TaskOutput",
]


@dataclass(frozen=True, kw_only=True)
class NodeTasks:
    node: str = ""
    first_rank: int = 0
    tasks: int = 0


@dataclass(frozen=True, kw_only=True)
class LaunchStarted(Record):
    launch_id: str = ""
    layout: list[NodeTasks] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class TaskOutput:
    rank: int = 0
    stream: str = "stdout"
    data: bytes = b""


@dataclass(frozen=True, kw_only=True)
class TaskEnd(Record):
    rank: int = 0
    node: str = ""
    exit_code: int = 0
    signal: int = 0
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class LaunchEnd(Record):
    """The last event. ``reason`` is empty on success."""

    exit_code: int = 0
    reason: str = ""


LaunchEvent = LaunchStarted | TaskOutput | TaskEnd | LaunchEnd
