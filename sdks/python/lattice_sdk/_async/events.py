"""The event history of one allocation, as a stream that reconnects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from ..call import Call, at, query
from ..decode import decode
from ..errors import LatticeError, error_from_problem
from ..models.generated import AllocationEvent
from ..retry import backoff
from ..sse import EventParser
from .caller import Caller

__all__ = ["EventCalls"]

SILENCE_LIMIT = 60.0
"""The server sends a comment at least this often; silence beyond it means a dead connection."""
MAX_RECONNECTS = 30
"""Consecutive reconnects; a restart or failover takes fewer."""

Received = AllocationEvent | None
"""None: the stream is open."""


class EventCalls:
    _caller: Caller

    async def stream_allocation_events(
        self, id: str, *, types: Sequence[str] | None = None, after: str | None = None
    ) -> AsyncGenerator[AllocationEvent, None]:
        """Streams past and future events until the allocation ends; reconnects behind the last event."""
        opened, failures = False, 0
        while True:
            try:
                async with aclosing(self._open_history(id, types, after)) as events:
                    async for event in events:
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
            await asyncio.sleep(backoff(self._caller.retry, failures))

    async def _open_history(
        self, id: str, types: Sequence[str] | None, after: str | None
    ) -> AsyncGenerator[Received, None]:
        call: Call[Any] = Call(
            method="GET",
            path=at("allocations", id, "events", "stream"),
            query=query({"types": types, "cursor": after}),
            parse=lambda data: data,
            repeatable=True,
            headers={"accept": "text/event-stream"},
        )
        parser = EventParser()
        async with self._caller.open(call, read_timeout=SILENCE_LIMIT) as response:
            yield None
            async for chunk in self._caller.chunks(response):
                for message in parser.feed(chunk):
                    data = json.loads(message.data)
                    if message.event == "problem":
                        raise error_from_problem(data)
                    yield decode(AllocationEvent, data)
