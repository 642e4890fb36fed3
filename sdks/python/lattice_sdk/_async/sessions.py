"""Terminals and tasks inside a running allocation. A launch is one request whose response lasts as long as the tasks; closing
it ends them. A launch that may have started is never started again.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from ..call import Call, at, change, query
from ..launching import PATIENCE
from ..models.tasks import LaunchEvent
from ..models.terminals import checked_side, checked_size
from .caller import Caller
from .launch import launch_tasks
from .terminal import Terminal, opened

__all__ = ["SessionCalls"]


class SessionCalls:
    _caller: Caller

    async def attach(
        self,
        id: str,
        *,
        node: str | None = None,
        command: str | None = None,
        size: tuple[int, int] | None = None,
        term: str | None = None,
    ) -> Terminal:
        """Opens a terminal in a running allocation, with the user's shell or a command line.

        ``node``: one of its nodes (default: the first). ``size``: rows and columns. ``term``: terminal type (TERM).
        """
        rows, columns = (None, None) if size is None else checked_size(size)
        wanted = {"node": node, "command": command, "rows": rows, "cols": columns, "term": term}
        path = at("allocations", id, "attach")
        call: Call[Any] = Call(method="GET", path=path, query=query(wanted), parse=lambda data: data)
        return await opened(await self._caller.web_socket(call))

    async def launch(
        self,
        id: str,
        command: Sequence[str],
        *,
        tasks: int | None = None,
        tasks_per_node: int | None = None,
        variables: Mapping[str, str] | None = None,
        workdir: str | None = None,
        nodes: Sequence[str] | None = None,
        pmi: str | None = None,
        input: bool | None = None,
        pty: bool | None = None,
        rows: int | None = None,
        columns: int | None = None,
        fence_timeout_seconds: int | None = None,
        patience: float = PATIENCE,
    ) -> AsyncGenerator[LaunchEvent, None]:
        """Starts tasks in a running allocation. Closing the iterator ends them.

        ``pty``: the first task has a terminal of this size; ``send_input`` writes to it and resizes it.
        ``fence_timeout_seconds``: how long MPI ranks wait for each other. ``patience``: for how many seconds the client
        tries to resume a launch whose server is lost.
        """
        body: dict[str, Any] = {
            "command": list(command),
            "tasks": tasks,
            "tasks_per_node": tasks_per_node,
            "variables": variables,
            "workdir": workdir,
            "nodes": nodes,
            "pmi": pmi,
            "input": input,
            "pty": pty,
            "rows": None if rows is None else checked_side("rows", rows),
            "columns": None if columns is None else checked_side("columns", columns),
            "fence_timeout_seconds": fence_timeout_seconds,
        }
        first = {name: value for name, value in body.items() if value is not None}
        async with aclosing(launch_tasks(self._caller, id, first, patience)) as events:
            async for event in events:
                yield event

    async def end_launch(self, id: str, launch_id: str) -> None:
        """Ends the tasks of a launch, also one that another client started."""
        path = at("allocations", id, "launches", launch_id)
        await self._caller.send(change("POST", path, {"end": True}, request_id=False, repeatable=True))

    async def send_input(
        self,
        id: str,
        launch_id: str,
        data: bytes = b"",
        *,
        end: bool = False,
        size: tuple[int, int] | None = None,
        offset: int | None = None,
    ) -> None:
        """Sends input to a launch with ``input`` or ``pty``. ``end``: end of input.

        ``size``: new rows and columns of the terminal, applied before ``data``. ``offset``: number of bytes sent before,
        which makes retries safe.
        """
        path = at("allocations", id, "launches", launch_id, "input")
        body: dict[str, Any] = {"data": base64.b64encode(data).decode(), "end": end}
        if size is not None:
            body["rows"], body["columns"] = checked_size(size)
        if offset is not None:
            body["offset"] = offset
        await self._caller.send(change("POST", path, body, request_id=False, repeatable=offset is not None))
