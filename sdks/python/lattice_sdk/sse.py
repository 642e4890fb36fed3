"""Parses server-sent events: an empty line ends an event, a line that starts with a colon keeps the connection alive.
The parser is fed chunk by chunk, so that both clients share it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["EventParser", "LineSplitter", "ServerSentEvent"]

MAX_LINE_CHARS = 8 * 1024 * 1024
"""No line of the server is longer."""


@dataclass(frozen=True)
class ServerSentEvent:
    id: str
    event: str
    data: str


class LineSplitter:
    """Splits chunks of UTF-8 into lines; an incomplete last line is dropped."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, chunk: bytes) -> Iterator[str]:
        text = self._rest + self._decoder.decode(chunk)
        *lines, self._rest = text.split("\n")
        if len(self._rest) > MAX_LINE_CHARS:
            raise ValueError("the server sent a line that is too long")
        for line in lines:
            yield line[:-1] if line.endswith("\r") else line


class EventParser:
    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._id = ""
        self._event = "message"
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        for line in self._lines.feed(chunk):
            if line != "":
                self._take(line)
                continue
            if self._data:
                yield ServerSentEvent(self._id, self._event, "\n".join(self._data))
            self._event, self._data = "message", []

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id":
            self._id = value
