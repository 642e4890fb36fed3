"""The WebSocket protocol (RFC 6455) as bytes, independent of sockets: the handshake, and frames in both directions.
Both clients use it, because httpx has no WebSockets.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Answer", "Closed", "FrameReader", "ProtocolError", "frame", "new_key", "opening", "proves", "read_answer"]

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA

MAX_HEAD_BYTES = 64 * 1024
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""Messages are usually one screen."""

SECRET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class ProtocolError(ValueError):
    """The received bytes violate the protocol."""


@dataclass(frozen=True)
class Answer:
    """``rest``: the bytes after the head, part of the body or the first frames."""

    status: int
    headers: dict[str, str]
    rest: bytes


@dataclass(frozen=True)
class Closed:
    """The other side has closed the connection."""

    code: int = 0


def new_key() -> str:
    return base64.b64encode(os.urandom(16)).decode()


def opening(target: str, headers: Sequence[tuple[str, str]], key: str) -> bytes:
    """Returns the request. Refuses a line break in a header, which would inject another header."""
    lines = [
        f"GET {target} HTTP/1.1",
        *(f"{name}: {value}" for name, value in headers),
        "connection: Upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        f"sec-websocket-key: {key}",
    ]
    if any(character in line for line in lines for character in "\r\n\0"):
        raise ValueError("a header contains a line break")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_answer(buffer: bytes) -> Answer | None:
    """Returns None while the head is incomplete."""
    head, end, rest = buffer.partition(b"\r\n\r\n")
    if not end:
        if len(buffer) > MAX_HEAD_BYTES:
            raise ProtocolError("the answer begins with too many headers")
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if not words[0].startswith("HTTP/1.") or len(words) < 2 or not words[1].isdigit():
        raise ProtocolError("what answers does not speak HTTP")
    pairs = (line.partition(":") for line in lines)
    return Answer(int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}, rest)


def proves(answer: Answer, key: str) -> bool:
    """Whether the response accepts this handshake."""
    wanted = base64.b64encode(hashlib.sha1(key.encode() + SECRET).digest()).decode()
    return answer.headers.get("sec-websocket-accept") == wanted


def frame(kind: int, payload: bytes) -> bytes:
    """Encodes one masked frame of a client."""
    size = len(payload)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 1 << 16:
        length = bytes([0x80 | 126]) + size.to_bytes(2, "big")
    else:
        length = bytes([0x80 | 127]) + size.to_bytes(8, "big")
    mask = os.urandom(4)
    stretched = (mask * (size // 4 + 1))[:size]
    hidden = (int.from_bytes(payload, "big") ^ int.from_bytes(stretched, "big")).to_bytes(size, "big")
    return bytes([0x80 | kind]) + length + mask + hidden


class FrameReader:
    """Decodes messages from chunks; ``answers`` holds frames to send back, such as pongs."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self._buffer = bytearray()
        self._kind = 0
        self._parts = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes | str | Closed]:
        self._buffer += chunk
        while (found := self._next()) is not None:
            first, payload = found
            kind = first & 0x0F
            if kind == CLOSE:
                code = int.from_bytes(payload[:2], "big")
                self.answers.append(frame(CLOSE, payload[:2]))
                yield Closed(code)
                return
            if kind == PING:
                self.answers.append(frame(PONG, payload))
            elif kind != PONG:
                message = self._message(kind, payload, final=bool(first & 0x80))
                if message is not None:
                    yield message

    def _next(self) -> tuple[int, bytes] | None:
        """Returns the first byte and the payload of the first complete frame."""
        have = self._buffer
        if len(have) < 2:
            return None
        if have[0] & 0x70 or have[1] & 0x80:
            raise ProtocolError("the server sent a frame that no server may send")
        size, at = have[1] & 0x7F, 2
        if size >= 126:
            at = 4 if size == 126 else 10
            if len(have) < at:
                return None
            size = int.from_bytes(have[2:at], "big")
        if size > MAX_MESSAGE_BYTES:
            raise ProtocolError("the server sent a message that is too long")
        if len(have) < at + size:
            return None
        first, payload = have[0], bytes(have[at : at + size])
        del have[: at + size]
        return first, payload

    def _message(self, kind: int, payload: bytes, *, final: bool) -> bytes | str | None:
        if kind not in (0, TEXT, BINARY) or (kind == 0) != (self._kind != 0):
            raise ProtocolError("the server sent pieces out of order")
        self._kind = self._kind or kind
        self._parts += payload
        if len(self._parts) > MAX_MESSAGE_BYTES:
            raise ProtocolError("the server sent a message that is too long")
        if not final:
            return None
        kind, whole = self._kind, bytes(self._parts)
        self._kind = 0
        self._parts.clear()
        return whole.decode("utf-8", "replace") if kind == TEXT else whole
