"""What is seen of work while it goes on: output, events and measurements."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..decode import decode
from ..state import State

__all__ = ["AllocationEvent", "LogLine", "Metrics", "WatchEvent", "event_from_json", "metrics_from_json"]


@dataclass(frozen=True, kw_only=True)
class LogLine:
    message: str
    """Without its end of line."""
    node: str = ""
    stream: str = "stdout"
    attempt: int = 0


@dataclass(frozen=True, kw_only=True)
class WatchEvent:
    cursor: str = ""
    """Where this event stands; hand it to ``after`` to go on behind it."""
    at: datetime | None = None
    kind: str = ""
    """``allocation_changed`` and the like; ``current`` is the state found when the watch began."""
    allocation_id: str = ""
    attempt: int = 0
    node: str = ""
    tenant: str = ""
    vcluster: str = ""
    user: str = ""
    from_state: State = State("")
    state: State = State("")
    reason: str = ""
    message: str = ""
    dag_id: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AllocationEvent:
    """Something that has happened to an allocation, told for people as well."""

    cursor: str = ""
    """Where this event stands; hand it to ``after`` to go on behind it."""
    at: datetime | None = None
    type: str = ""
    """``state``, ``decision``, ``failure``, ``scaling`` or ``preemption``."""
    kind: str = ""
    text: str = ""
    attempt: int = 0
    nodes: list[str] = field(default_factory=list)
    scores: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    exit_code: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What was measured of an allocation. None: not measured. Further figures are in ``extra``."""

    allocation_id: str = ""
    at: datetime | None = None
    gpu_utilization: float | None = None
    """Percent."""
    cpu_utilization: float | None = None
    """Percent."""
    memory_used: float | None = None
    """Bytes."""
    gpu_memory_used: float | None = None
    """Bytes."""
    node: str = ""
    """Of a stream: whose values these are."""
    values: dict[str, float] = field(default_factory=dict)
    """Everything that was measured, by name."""
    telemetry_mode: str = ""
    unavailable_reason: str = ""
    """Why nothing is measured; empty: something is."""
    extra: dict[str, Any] = field(default_factory=dict)


def metrics_from_json(data: dict[str, Any]) -> Metrics:
    """The newest point of every series, or the values of one moment."""
    values: dict[str, float] = dict(data.get("values") or {})
    for series in data.get("series") or []:
        points = series.get("points") or []
        if points:
            values[series["metric"]] = points[-1].get("value", 0.0)
    known = ("gpu_utilization", "cpu_utilization", "memory_used", "gpu_memory_used")
    figures = {name: values[name] for name in known if name in values}
    return decode(Metrics, {**data, **figures, "values": values})


def event_from_json(data: dict[str, Any]) -> WatchEvent:
    """``from`` is a word of Python, and ``to`` is what everybody calls the state."""
    renamed = {"from": "from_state", "to": "state"}
    return decode(WatchEvent, {renamed.get(name, name): value for name, value in data.items()})
