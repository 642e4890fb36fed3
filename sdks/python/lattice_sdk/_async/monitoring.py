"""Work as it goes on: state changes, output and measurements. Streams are taken up again where they broke, through
restarts and failovers of the server; what cannot be taken up again ends with the server's own error.
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
from ..models.allocations import Allocation
from ..models.cluster import Health
from ..models.monitoring import LogLine, Metrics, WatchEvent, event_from_json, metrics_from_json
from ..retry import backoff
from ..sse import EventParser, LineSplitter
from .caller import Caller

__all__ = ["MonitoringCalls"]

SILENCE_LIMIT = 60.0
"""The server sends a comment at least this often; silence beyond it means a dead connection."""

MAX_RECONNECTS = 30
"""In a row; a server that restarts or fails over is back well before."""

STATE_CHANGE = "allocation_changed"


class MonitoringCalls:
    _caller: Caller

    async def watch(self, id: str, *, after: str | None = None) -> AsyncGenerator[WatchEvent, None]:
        """The state of one allocation now, then each change, until its last. ``after``: the cursor of the last event
        seen; the present state is then left out.
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
                # What happened meanwhile is no longer told one by one, but where it led can be seen.
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
        """Everything that happens from now on, or behind the cursor ``after``, without an end."""
        filters = {"allocation_id": allocation_id, "node": node, "tenant": tenant, "user": user, "kinds": kinds}
        # A place to begin at, so that a connection that breaks before the first event leaves no gap.
        # The index of the log is a cursor too.
        cursor = after or (await self._caller.send(read("/healthz", Health))).log_index
        failures = 0
        while True:
            try:
                # Closed at once when the caller leaves, rather than when memory is tidied up.
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
                    # The server's last words: it stops, or has dropped what comes next.
                    if message.event == "problem":
                        raise error_from_problem(data)
                    yield event_from_json({**data, "cursor": message.id or data.get("cursor", "")})

    async def wait(self, id: str) -> Allocation:
        """Until it has ended, or rests: suspended since its walltime is over, until somebody resumes it. Answers how."""
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
        """What has been written so far. ``tail``: the last lines; ``limit``: bytes in all."""
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
        """What has been and is being written, line by line, until the allocation ends."""
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
        """One JSON object per line; one that holds a problem is the server's last."""
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
        """The newest values; ``unavailable_reason`` says why where nothing is measured."""
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

    async def diagnostics(self, id: str, part: str | None = None) -> dict[str, Any]:
        """``part``: ``network`` or ``storage``; absent: both."""
        parts = [] if part is None else [part]
        return await self._caller.send(read(at("allocations", id, "diagnostics", *parts)))

    async def compare_metrics(
        self, ids: Sequence[str], *, metrics: Sequence[str] | None = None, align: str | None = None
    ) -> dict[str, Any]:
        names = None if metrics is None else ",".join(metrics)
        return await self._caller.send(read(at("compare"), ids=",".join(ids), metrics=names, align=align))


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
