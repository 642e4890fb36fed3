"""DAGs: their members, and the graph between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..state import State
from .allocations import Dependency, TaskGroupStatus

__all__ = ["Dag", "DagGraph", "DagMember", "SubmittedDag"]


@dataclass(frozen=True, kw_only=True)
class DagMember:
    name: str = ""
    allocation_id: str = ""
    state: State = State("pending")
    reason: str = ""
    depends_on: list[Dependency] = field(default_factory=list)
    group: TaskGroupStatus | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Dag:
    id: str = ""
    name: str = ""
    state: State = State("running")
    user: str = ""
    tenant: str = ""
    submitted_at: datetime | None = None
    ended_at: datetime | None = None
    members: list[DagMember] = field(default_factory=list)
    size: int = 0
    ended: int = 0
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SubmittedDag:
    id: str = ""
    state: State = State("running")
    members: list[DagMember] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    log_index: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def allocation_id(self, name: str) -> str:
        """Of the member with this name; KeyError when there is none."""
        return {member.name: member.allocation_id for member in self.members}[name]


@dataclass(frozen=True, kw_only=True)
class DagGraph:
    id: str = ""
    nodes: list[DagMember] = field(default_factory=list)
    edges: list[dict[str, str]] = field(default_factory=list)
    """Each with ``from``, ``to`` and ``condition``."""
    extra: dict[str, Any] = field(default_factory=dict)
