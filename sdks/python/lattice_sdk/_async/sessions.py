"""Sessions, terminals, and tasks inside a running allocation. A launch is one request whose answer lasts as long as the tasks do;
breaking it off ends them. It is never begun twice by itself: tasks that have run may have changed something.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from ..call import Call, at, change, query, read
from ..launching import PATIENCE
from ..models.submission import Submission, body_of
from ..models.tasks import CreatedSession, LaunchEvent, Session
from ..models.terminals import checked_side, checked_size
from ..state import State
from .caller import Caller
from .launch import launch_tasks
from .pages import listed
from .terminal import Terminal, opened

__all__ = ["SessionCalls"]


class SessionCalls:
    _caller: Caller

    async def create_session(
        self,
        submission: Submission | None = None,
        *,
        allocation_id: str | None = None,
        request_id: str | None = None,
    ) -> CreatedSession:
        """A submission without anything to run, or a session on an allocation that runs."""
        body = {"allocation_id": allocation_id} if allocation_id else body_of(submission or {})
        return await self._caller.send(
            change("POST", at("sessions"), body, kind=CreatedSession, request_id=request_id)
        )

    async def get_session(self, id: str) -> Session:
        return await self._caller.send(read(at("sessions", id), Session))

    async def list_sessions(
        self, *, user: str | None = None, tenant: str | None = None, limit: int | None = None
    ) -> list[Session]:
        filters = {"user": user, "tenant": tenant}
        return await listed(self._caller, at("sessions"), "sessions", Session, filters, limit)

    async def end_session(
        self, id: str, *, exit_code: int | None = None, request_id: str | None = None
    ) -> State:
        """Ends it, and with it the allocation that was made for it."""
        body = {"exit_code": exit_code}
        return await self._caller.send(
            change(
                "DELETE",
                at("sessions", id),
                body,
                parse=lambda data: State(data.get("state") or ""),
                request_id=request_id,
            )
        )

    async def attach(
        self,
        id: str,
        *,
        node: str | None = None,
        command: str | None = None,
        size: tuple[int, int] | None = None,
        term: str | None = None,
    ) -> Terminal:
        """A terminal in a running allocation, with the user's shell or a command line.

        ``node``: one of its nodes; the first otherwise. ``size``: rows and columns. ``term``: its kind, for TERM.
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

        ``pty``: the first task has a terminal of this size; ``send_input`` types into it, and changes its size.
        ``fence_timeout_seconds``: how long ranks of an MPI program wait for each other. ``patience``: for how many
        seconds a launch that has begun is tried to be taken up again when its server is lost.
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
        """Ends the tasks of a launch, whoever reads it."""
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
        """For a launch with ``input`` or ``pty``. ``end``: nothing follows.

        ``size``: rows and columns of the terminal from now on; it has them before it gets ``data``. ``offset``: how
        many bytes were sent before: then it is sent again after a failure, and taken once.
        """
        path = at("allocations", id, "launches", launch_id, "input")
        body: dict[str, Any] = {"data": base64.b64encode(data).decode(), "end": end}
        if size is not None:
            body["rows"], body["columns"] = checked_size(size)
        if offset is not None:
            body["offset"] = offset
        await self._caller.send(change("POST", path, body, request_id=False, repeatable=offset is not None))
