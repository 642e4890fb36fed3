"""A terminal in a running allocation: its output in chunks, and its input. It supports one reader; the other methods may
be called concurrently. Leaving the context hangs up, like closing a window.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

from ..byte_stream import CHUNK_BYTES
from ..errors import error_from_problem
from ..models.terminals import TerminalEnd, TerminalSignal, checked_signal, checked_size
from .web_socket import WebSocket

__all__ = ["Terminal"]

HUNG_UP = TerminalEnd(-1, "hung up")
LOST = TerminalEnd(-1, "connection to the server lost")


class Terminal:
    """Iterating yields the output until the terminal ends; then ``end`` and ``exit_code`` are set."""

    def __init__(self, connection: WebSocket, node: str) -> None:
        self.node = node
        self.end: TerminalEnd | None = None
        """None until all output is read."""
        self._connection = connection

    @property
    def exit_code(self) -> int | None:
        """Exit code of the shell or command; -1 if the terminal was disconnected; None until all output is read."""
        return None if self.end is None else self.end.exit_code

    async def read(self) -> bytes:
        """Returns the next piece of output; empty at the end."""
        while self.end is None:
            message = await self._connection.receive()
            if isinstance(message, bytes) and message:
                return message
            if message is None:
                self.end = LOST
            elif isinstance(message, str):
                self._take(_object(message))
        return b""

    async def wait(self) -> TerminalEnd:
        """Reads the remaining output and returns how the terminal ended."""
        while await self.read():
            pass
        return self.end or LOST

    async def write(self, data: bytes | str) -> None:
        """Types. Control characters are keys: ``\\x03`` is Ctrl-C, ``\\x04`` the end of input."""
        typed = data.encode() if isinstance(data, str) else data
        for at in range(0, len(typed), CHUNK_BYTES):
            await self._connection.send(typed[at : at + CHUNK_BYTES])

    async def resize(self, rows: int, columns: int) -> None:
        size = checked_size((rows, columns))
        await self._connection.send(json.dumps({"resize": {"rows": size[0], "cols": size[1]}}))

    async def signal(self, name: TerminalSignal) -> None:
        """Signals the foreground process group, for example with ``int``."""
        await self._connection.send(json.dumps({"signal": checked_signal(name)}))

    async def close(self) -> None:
        """Hangs up; the programs in the terminal receive SIGHUP."""
        self.end = self.end or HUNG_UP
        await self._connection.aclose()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece

    async def __aenter__(self) -> Terminal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _take(self, message: dict[str, Any]) -> None:
        if "exit" in message:
            end = message["exit"]
            self.end = TerminalEnd(end.get("code") or 0, end.get("reason") or "")
        if "problem" in message:
            error = error_from_problem(message["problem"])
            self.end = TerminalEnd(-1, error.detail)
            raise error


async def opened(connection: WebSocket) -> Terminal:
    """Returns the terminal once the node has opened it."""
    first = await connection.receive()
    started = _object(first).get("started") if isinstance(first, str) else None
    return Terminal(connection, (started or {}).get("node") or "")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
