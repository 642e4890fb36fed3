"""Runs a launch from the client side. The client acknowledges output, so that nodes can discard it, and resumes the launch
at any server when its own is lost, without losing or repeating output. A launch without any response is not retried: it
may have run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from ..call import Call, at
from ..errors import LatticeConnectionError, LatticeError, connection_error
from ..launching import PAUSE, PlacedEvent, Progress, can_resume, placed_event
from ..models.tasks import LaunchEnd, LaunchEvent
from ..sse import LineSplitter
from .caller import Caller

__all__ = ["launch_tasks"]

LAST_WORD_SECONDS = 2.0


async def launch_tasks(
    caller: Caller, id: str, first: Mapping[str, Any], patience: float
) -> AsyncGenerator[LaunchEvent, None]:
    progress = Progress()
    lost_at: float | None = None
    while True:
        try:
            answers = _answers(caller, id, progress.request(first), progress.started)
            async with aclosing(answers):
                async for placed in answers:
                    lost_at = None
                    caller.learn(placed.servers)
                    if progress.is_new(placed):
                        yield placed.event
                    progress.took(placed)
                    if isinstance(placed.event, LaunchEnd):
                        await _tell(caller, id, progress.launch_id, {"finished": True})
                        return
                    if progress.is_much():
                        await _tell(caller, id, progress.launch_id, {"acknowledged": progress.positions})
                        progress.clear_unacknowledged()
            raise connection_error("the server closed the launch stream before the tasks ended", sent=True)
        except LatticeError as error:
            if not progress.started or not can_resume(error):
                raise
            now = time.monotonic()
            lost_at = now if lost_at is None else lost_at
            if now >= lost_at + patience:
                raise _given_up(error, patience) from error
        await asyncio.sleep(PAUSE)


async def _tell(caller: Caller, id: str, launch_id: str, what: Mapping[str, Any]) -> None:
    """A lost message is covered by the next one, or by the timeout of the servers."""
    body = json.dumps(what).encode()
    path = at("allocations", id, "launches", launch_id)
    call: Call[Any] = Call(
        method="POST", path=path, body=body, parse=lambda data: data, timeout=LAST_WORD_SECONDS
    )
    try:
        await caller.send(call)
    except LatticeError:
        pass


async def _answers(
    caller: Caller, id: str, body: Mapping[str, Any], repeatable: bool
) -> AsyncGenerator[PlacedEvent, None]:
    call: Call[Any] = Call(
        method="POST",
        path=at("allocations", id, "launches"),
        body=json.dumps(body).encode(),
        parse=lambda data: data,
        repeatable=repeatable,
        headers={"accept": "application/x-ndjson"},
    )
    splitter = LineSplitter()
    # Tasks may be silent for days.
    async with caller.open(call, read_timeout=None) as response:
        async for chunk in caller.chunks(response):
            for line in splitter.feed(chunk):
                placed = placed_event(json.loads(line))
                if placed is not None:
                    yield placed


def _given_up(error: LatticeError, patience: float) -> LatticeConnectionError:
    detail = f"the launch broke off, and could not be taken up again within {patience:g} s: {error}"
    return connection_error(detail, sent=True)
