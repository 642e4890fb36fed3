"""State changes, output and metrics of running work. Streams reconnect where they stopped, through restarts and failovers
of the server; a stream that cannot be resumed ends with the error of the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any

import httpx

from ..call import Call, at, read
from ..errors import LatticeCursorGoneError, LatticeError, error_from_problem
from ..log_lines import LogAssembler
from ..models.generated import Allocation
from ..models.health import Health
from ..models.monitoring import LogLine, Metrics, WatchEvent, event_from_json, metrics_from_json
from ..retry import backoff
from ..sse import EventParser, LineSplitter
from .caller import Caller

__all__ = ["MonitoringCalls"]

SILENCE_LIMIT = 60.0
"""The server sends a comment at least this often; silence beyond it means a dead connection."""

MAX_RECONNECTS = 30
"""Consecutive reconnects; a restart or failover takes fewer."""

STATE_CHANGE = "allocation_changed"


class MonitoringCalls:
    _caller: Caller

    async def watch(self, id: str, *, after: str | None = None) -> AsyncGenerator[WatchEvent, None]:
        """Yields the current state of one allocation, then each change until the last. ``after``: cursor of the last event
        received; the current state is then omitted.
        """
        known = ""
        while True:
            if after is None:
                now = await self._caller.send(read(at("allocations", id), Allocation))
                after = now.log_index
                if str(now.state) != known:
                    known = str(now.state)
                    yield _present(now)
                if now.state.is_final:
                    return
            try:
                changes = self.events(allocation_id=id, kinds=[STATE_CHANGE], after=after)
                async with aclosing(changes):
                    async for event in changes:
                        known = str(event.state)
                        yield event
                        if event.state.is_final and event.allocation_id == id:
                            return
            except LatticeCursorGoneError:
                # The events in between are no longer stored; the current state shows their result.
                after = None
                await asyncio.sleep(backoff(self._caller.retry, 0))

    async def events(
        self,
        *,
        allocation_id: str | None = None,
        node: str | None = None,
        tenant: str | None = None,
        user: str | None = None,
        kinds: Sequence[str] | None = None,
        after: str | None = None,
    ) -> AsyncGenerator[WatchEvent, None]:
        """Streams all events from now on, or after the cursor ``after``. It does not end by itself."""
        filters = {"allocation_id": allocation_id, "node": node, "tenant": tenant, "user": user, "kinds": kinds}
        # Start at a known position, so that a connection lost before the first event leaves no gap. A log index is a
        # cursor too.
        cursor = after or (await self._caller.send(read("/healthz", Health))).log_index
        failures = 0
        while True:
            try:
                # Close immediately when the caller leaves, not at garbage collection.
                async with aclosing(self._open_events(filters, cursor)) as events:
                    async for event in events:
                        failures = 0
                        cursor = event.cursor
                        yield event
            except LatticeError as error:
                if failures >= MAX_RECONNECTS or not error.retryable:
                    raise
            failures += 1
            await asyncio.sleep(backoff(self._caller.retry, failures))

    async def _open_events(self, filters: dict[str, Any], cursor: str) -> AsyncGenerator[WatchEvent, None]:
        call = _stream(at("events"), filters, {"accept": "text/event-stream", "last-event-id": cursor})
        parser = EventParser()
        async with self._caller.open(call, read_timeout=SILENCE_LIMIT) as response:
            async for chunk in self._caller.chunks(response):
                for message in parser.feed(chunk):
                    data = json.loads(message.data)
                    # The last message: the server stops, or has dropped events.
                    if message.event == "problem":
                        raise error_from_problem(data)
                    yield event_from_json({**data, "cursor": message.id or data.get("cursor", "")})

    async def wait(self, id: str) -> Allocation:
        """Waits until the allocation ends, or is suspended at the end of its walltime, and returns it."""
        changes = self.watch(id)
        async with aclosing(changes):
            async for event in changes:
                if event.state == "suspended" and event.reason == "walltime":
                    break
        return await self._caller.send(read(at("allocations", id), Allocation))

    async def logs(
        self,
        id: str,
        *,
        stream: str | None = None,
        node: str | None = None,
        tail: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int | None = None,
        attempt: int | None = None,
    ) -> list[LogLine]:
        """Returns the output captured so far. ``tail``: number of last lines; ``limit``: maximum number of bytes."""
        filters = {
            "stream": stream,
            "node": node,
            "tail": tail,
            "since": since,
            "until": until,
            "limit": limit,
            "attempt": attempt,
        }
        assembler = LogAssembler()
        call = _pieces(at("allocations", id, "logs"), filters)
        async with self._caller.open(call, read_timeout=SILENCE_LIMIT) as response:
            lines = [line async for piece in self._objects(response) for line in assembler.feed(piece)]
        return [*lines, *assembler.finish()]

    async def stream_logs(
        self,
        id: str,
        *,
        stream: str | None = None,
        node: str | None = None,
        tail: int | None = None,
        attempt: int | None = None,
    ) -> AsyncGenerator[LogLine, None]:
        """Streams past and new output line by line until the allocation ends."""
        filters: dict[str, Any] = {"stream": stream, "node": node, "tail": tail, "attempt": attempt}
        path = at("allocations", id, "logs", "stream")
        assembler = LogAssembler()
        opened = False
        failures = 0
        while True:
            try:
                call = _pieces(path, {**filters, "resume": assembler.resume()})
                # A job may be silent for hours.
                async with self._caller.open(call, read_timeout=None) as response:
                    opened = True
                    async for piece in self._objects(response):
                        failures = 0
                        for line in assembler.feed(piece):
                            yield line
                break
            except LatticeError as error:
                if not opened or failures >= MAX_RECONNECTS or not error.retryable:
                    raise
            failures += 1
            await asyncio.sleep(backoff(self._caller.retry, failures))
        for line in assembler.finish():
            yield line

    async def _objects(self, response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        """Yields one JSON object per line; an object with a problem ends the stream."""
        splitter = LineSplitter()
        async for chunk in self._caller.chunks(response):
            for line in splitter.feed(chunk):
                piece = json.loads(line)
                if "problem" in piece:
                    raise error_from_problem(piece["problem"])
                yield piece

    async def query_metrics(
        self,
        id: str,
        *,
        mode: str | None = None,
        metrics: Sequence[str] | None = None,
        duration_seconds: int | None = None,
    ) -> Metrics:
        """Returns the latest values; ``unavailable_reason`` explains missing ones."""
        call = read(
            at("allocations", id, "metrics"),
            parse=metrics_from_json,
            mode=mode,
            metrics=metrics,
            duration_seconds=duration_seconds,
        )
        return await self._caller.send(call)

    async def stream_metrics(self, id: str) -> AsyncGenerator[Metrics, None]:
        path = at("allocations", id, "metrics", "stream")
        call = _stream(path, {}, {"accept": "application/x-ndjson"})
        async with self._caller.open(call, read_timeout=None) as response:
            async for snapshot in self._objects(response):
                yield metrics_from_json(snapshot)


def _stream(path: str, filters: dict[str, Any], headers: dict[str, str]) -> Call[Any]:
    call: Call[Any] = read(path, **filters)
    return Call(method="GET", path=path, query=call.query, parse=call.parse, repeatable=True, headers=headers)


def _pieces(path: str, filters: dict[str, Any]) -> Call[Any]:
    return _stream(path, {**filters, "format": "ndjson"}, {"accept": "application/x-ndjson"})


def _present(now: Allocation) -> WatchEvent:
    return WatchEvent(
        cursor=now.log_index,
        kind="current",
        allocation_id=now.id,
        attempt=now.attempt,
        tenant=now.tenant,
        user=now.user,
        state=now.state,
        reason=now.reason,
        message=now.message,
        dag_id=now.dag_id,
    )
