"""Progress of a launch at its client: which events it has passed on, and where to resume. Events of a node are numbered without
gaps, so a client that names its last numbers receives the rest exactly once.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .decode import decode
from .errors import LatticeConnectionError, LatticeError, error_from_problem
from .models.tasks import LaunchEnd, LaunchEvent, LaunchStarted, TaskEnd, TaskOutput

__all__ = ["PATIENCE", "PAUSE", "PlacedEvent", "Progress", "can_resume", "placed_event"]

PATIENCE = 60.0
"""Seconds; as long as servers wait for a client to resume."""
PAUSE = 0.25
TELL_EVERY_BYTES = 256 * 1024
"""A quarter of what nodes buffer before tasks block."""
EVENT_BYTES = 64
"""Size of an event on a node, without its output."""


@dataclass(frozen=True)
class PlacedEvent:
    """An event with its position in the stream of its node; number 0 for events without one."""

    event: LaunchEvent
    node_index: int
    number: int
    call: int
    servers: list[str]


def placed_event(line: Mapping[str, Any]) -> PlacedEvent | None:
    """Parses one line; None for an unknown kind of event. Raises the problem that ended the launch."""
    event = _event(line)
    if event is None:
        return None
    started = line.get("started") or {}
    return PlacedEvent(
        event=event,
        node_index=line.get("node_index") or 0,
        number=line.get("number") or 0,
        call=started.get("call") or 0,
        servers=list(started.get("servers") or []),
    )


def _event(line: Mapping[str, Any]) -> LaunchEvent | None:
    if "problem" in line:
        raise error_from_problem(line["problem"])
    if "started" in line:
        return decode(LaunchStarted, line["started"])
    if "output" in line:
        output = line["output"]
        data = base64.b64decode(output.get("data") or "")
        return TaskOutput(rank=output.get("rank") or 0, stream=output.get("stream") or "stdout", data=data)
    if "task_end" in line:
        return decode(TaskEnd, line["task_end"])
    return decode(LaunchEnd, line["end"]) if "end" in line else None


def can_resume(error: LatticeError) -> bool:
    """Returns whether another try can help: the server is lost or no longer leads."""
    return isinstance(error, LatticeConnectionError) or error.code == "not_leader" or error.retryable


class Progress:
    def __init__(self) -> None:
        self.started = False
        self.launch_id = ""
        self.positions: list[int] = []
        self._call = 0
        self._ended: set[int] = set()
        self._bytes = 0

    def request(self, first: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the body of the next request: the launch itself, or its resumption."""
        if not self.started:
            return {**first, "resumable": True}
        resume = {"launch_id": self.launch_id, "positions": self.positions, "call": self._call}
        return {"resumable": True, "resume": resume}

    def is_new(self, placed: PlacedEvent) -> bool:
        """Records the start of the launch; returns False for an event the caller already has."""
        event = placed.event
        if isinstance(event, TaskEnd):
            return event.rank not in self._ended
        if not isinstance(event, LaunchStarted):
            return True
        again = self.started
        self.started = True
        self.launch_id = event.launch_id
        self._call = placed.call
        self.positions.extend([0] * (len(event.layout) - len(self.positions)))
        return not again

    def took(self, placed: PlacedEvent) -> None:
        event = placed.event
        if isinstance(event, TaskEnd):
            self._ended.add(event.rank)
        if placed.node_index < len(self.positions):
            at = self.positions[placed.node_index]
            self.positions[placed.node_index] = max(at, placed.number)
        self._bytes += EVENT_BYTES + (len(event.data) if isinstance(event, TaskOutput) else 0)

    def is_much(self) -> bool:
        """Returns whether enough output arrived since the last acknowledgement."""
        return self._bytes >= TELL_EVERY_BYTES

    def clear_unacknowledged(self) -> None:
        self._bytes = 0
