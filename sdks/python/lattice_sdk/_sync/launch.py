# Made from launch.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""A launch from its caller's side. What has come is told to the server now and then, so that nodes may forget it; when the
server is lost, or leads no more, the launch is taken up again, there or at another server, behind what has come. One of
which nothing was heard yet is not begun again: it may have run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any

from ..call import Call, at
from ..errors import LatticeConnectionError, LatticeError, connection_error
from ..launching import PAUSE, PlacedEvent, Progress, may_go_on, placed_event
from ..models.tasks import LaunchEnd, LaunchEvent
from ..sse import LineSplitter
from .caller import Caller

__all__ = ["launch_tasks"]

LAST_WORD_SECONDS = 2.0


def launch_tasks(
    caller: Caller, id: str, first: Mapping[str, Any], patience: float
) -> Generator[LaunchEvent, None, None]:
    progress = Progress()
    lost_at: float | None = None
    while True:
        try:
            answers = _answers(caller, id, progress.request(first), progress.begun)
            with closing(answers):
                for placed in answers:
                    lost_at = None
                    caller.learn(placed.servers)
                    if progress.is_new(placed):
                        yield placed.event
                    progress.took(placed)
                    if isinstance(placed.event, LaunchEnd):
                        _tell(caller, id, progress.launch_id, {"over": True})
                        return
                    if progress.is_much():
                        _tell(caller, id, progress.launch_id, {"taken": progress.positions})
                        progress.told()
            raise connection_error("the launch broke off without an end", sent=True)
        except LatticeError as error:
            if not progress.begun or not may_go_on(error):
                raise
            now = time.monotonic()
            lost_at = now if lost_at is None else lost_at
            if now >= lost_at + patience:
                raise _given_up(error, patience) from error
        time.sleep(PAUSE)


def _tell(caller: Caller, id: str, launch_id: str, what: Mapping[str, Any]) -> None:
    """One that does not arrive is made up for by the next, or by the servers' own clocks."""
    body = json.dumps(what).encode()
    path = at("allocations", id, "launches", launch_id)
    call: Call[Any] = Call(
        method="POST", path=path, body=body, parse=lambda data: data, timeout=LAST_WORD_SECONDS
    )
    try:
        caller.send(call)
    except LatticeError:
        pass


def _answers(
    caller: Caller, id: str, body: Mapping[str, Any], repeatable: bool
) -> Generator[PlacedEvent, None, None]:
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
    with caller.open(call, read_timeout=None) as response:
        for chunk in caller.chunks(response):
            for line in splitter.feed(chunk):
                placed = placed_event(json.loads(line))
                if placed is not None:
                    yield placed


def _given_up(error: LatticeError, patience: float) -> LatticeConnectionError:
    detail = f"the launch broke off, and could not be taken up again within {patience:g} s: {error}"
    return connection_error(detail, sent=True)
