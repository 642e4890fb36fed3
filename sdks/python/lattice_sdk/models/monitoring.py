"""Output, events and metrics of running work."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..decode import decode
from ..record import Record
from ..state import State

__all__ = ["LogLine", "Metrics", "WatchEvent", "event_from_json", "metrics_from_json"]


@dataclass(frozen=True, kw_only=True)
class LogLine:
    message: str
    """Without the line feed."""
    node: str = ""
    stream: str = "stdout"
    attempt: int = 0


@dataclass(frozen=True, kw_only=True)
class WatchEvent(Record):
    cursor: str = ""
    """Position of this event; pass it as ``after`` to continue behind it."""
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


@dataclass(frozen=True, kw_only=True)
class Metrics(Record):
    """Metrics of an allocation; None for values that are not measured. All values are in ``values``."""

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
    """Node of the values, in a stream."""
    values: dict[str, float] = field(default_factory=dict)
    """All measured values by name."""
    telemetry_mode: str = ""
    unavailable_reason: str = ""
    """Why nothing is measured; empty otherwise."""


def metrics_from_json(data: dict[str, Any]) -> Metrics:
    """Reads the latest point of every series, or the values of one event."""
    values: dict[str, float] = dict(data.get("values") or {})
    for series in data.get("series") or []:
        points = series.get("points") or []
        if points:
            values[series["metric"]] = points[-1].get("value", 0.0)
    known = ("gpu_utilization", "cpu_utilization", "memory_used", "gpu_memory_used")
    figures = {name: values[name] for name in known if name in values}
    return decode(Metrics, {**data, **figures, "values": values})


def event_from_json(data: dict[str, Any]) -> WatchEvent:
    """Renames ``from``, a keyword of Python, to ``from_state`` and ``to`` to ``state``."""
    renamed = {"from": "from_state", "to": "state"}
    return decode(WatchEvent, {renamed.get(name, name): value for name, value in data.items()})
