# Made from happened.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""What has happened to one allocation, and why, from its submission on."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

from ..call import Call, at, query, read
from ..decode import decode
from ..errors import LatticeError, error_from_problem
from ..models.monitoring import AllocationEvent
from ..retry import backoff
from ..sse import EventParser
from .caller import Caller

__all__ = ["EventCalls"]

SILENCE_LIMIT = 60.0
"""The server sends a comment at least this often; silence beyond it means a dead connection."""
MAX_RECONNECTS = 30
"""In a row; a server that restarts or fails over is back well before."""

Told = AllocationEvent | None
"""None: the stream is open."""


class EventCalls:
    _caller: Caller

    def allocation_events(
        self, id: str, *, types: Sequence[str] | None = None, after: str | None = None
    ) -> list[AllocationEvent]:
        """Oldest first. ``types``: state, decision, failure, scaling, preemption; ``after``: behind this cursor."""
        call: Call[dict[str, Any]] = read(at("allocations", id, "events"), types=types, cursor=after)
        answer = self._caller.send(call)
        return [decode(AllocationEvent, one) for one in answer.get("events") or []]

    def stream_allocation_events(
        self, id: str, *, types: Sequence[str] | None = None, after: str | None = None
    ) -> Generator[AllocationEvent, None, None]:
        """The same, and what happens from now on, until the allocation has ended. Goes on behind what has come when the
        server is away for a while.
        """
        opened, failures = False, 0
        while True:
            try:
                with closing(self._open_happened(id, types, after)) as events:
                    for event in events:
                        opened = True
                        if event is None:
                            continue
                        failures, after = 0, event.cursor
                        yield event
                return
            except LatticeError as error:
                if not opened or failures >= MAX_RECONNECTS or not error.retryable:
                    raise
            failures += 1
            time.sleep(backoff(self._caller.retry, failures))

    def _open_happened(
        self, id: str, types: Sequence[str] | None, after: str | None
    ) -> Generator[Told, None, None]:
        call: Call[Any] = Call(
            method="GET",
            path=at("allocations", id, "events", "stream"),
            query=query({"types": types, "cursor": after}),
            parse=lambda data: data,
            repeatable=True,
            headers={"accept": "text/event-stream"},
        )
        parser = EventParser()
        with self._caller.open(call, read_timeout=SILENCE_LIMIT) as response:
            yield None
            for chunk in self._caller.chunks(response):
                for message in parser.feed(chunk):
                    data = json.loads(message.data)
                    if message.event == "problem":
                        raise error_from_problem(data)
                    yield decode(AllocationEvent, data)
