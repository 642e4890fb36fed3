"""Splits streamed output into lines. Every chunk carries its end offset in its log; a broken stream resumes from there,
so that no output is repeated or lost.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from .models.monitoring import LogLine

__all__ = ["LogAssembler"]

MAX_LINE_BYTES = 1024 * 1024
"""Longer lines are split into parts of this size."""

Place = tuple[int, str, str]


class LogAssembler:
    def __init__(self) -> None:
        self._seen: dict[Place, str] = {}
        self._rest: dict[Place, bytes] = {}

    def feed(self, piece: Mapping[str, Any]) -> Iterator[LogLine]:
        place = (int(piece.get("attempt") or 0), str(piece.get("node") or ""), str(piece.get("stream") or "stdout"))
        data = self._rest.pop(place, b"") + base64.b64decode(piece.get("data") or "")
        self._seen[place] = str(piece.get("offset") or "0")
        *lines, rest = data.split(b"\n")
        while len(rest) > MAX_LINE_BYTES:
            lines.append(rest[:MAX_LINE_BYTES])
            rest = rest[MAX_LINE_BYTES:]
        if rest:
            self._rest[place] = rest
        for line in lines:
            yield _line(place, line)

    def finish(self) -> Iterator[LogLine]:
        """Returns last lines without a line feed."""
        for place in list(self._rest):
            yield _line(place, self._rest.pop(place))

    def resume(self) -> list[str]:
        """Returns the positions from which the server resumes the logs of the latest attempt."""
        newest = max((attempt for attempt, _, _ in self._seen), default=0)
        return [
            f"{attempt}:{node}:{stream}:{offset}"
            for (attempt, node, stream), offset in self._seen.items()
            if attempt == newest
        ]


def _line(place: Place, data: bytes) -> LogLine:
    attempt, node, stream = place
    return LogLine(message=data.decode("utf-8", "replace"), node=node, stream=stream, attempt=attempt)
