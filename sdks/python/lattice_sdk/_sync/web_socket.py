# Made from web_socket.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""A WebSocket over a connection of its own: whole messages both ways, pings answered. One reader."""

from __future__ import annotations

import ssl

import httpx

from ..byte_stream import ByteStream
from ..errors import connection_error, error_from_answer
from ..web_socket import (
    BINARY,
    CLOSE,
    MAX_MESSAGE_BYTES,
    TEXT,
    Answer,
    Closed,
    FrameReader,
    ProtocolError,
    frame,
    new_key,
    opening,
    proves,
    read_answer,
)

__all__ = ["WebSocket"]

NOT_SENT = ("accept", "accept-encoding", "connection")
GOING = (1000).to_bytes(2, "big")


class WebSocket:
    def __init__(self, stream: ByteStream, first: bytes, url: str) -> None:
        self._stream = stream
        self._url = url
        self._frames = FrameReader()
        self._waiting = list(self._frames.feed(first))
        self._over = False

    def receive(self) -> bytes | str | None:
        """The next message; None: the other side has closed, or is gone."""
        while not self._over or self._waiting:
            if self._waiting:
                message = self._waiting.pop(0)
                if not isinstance(message, Closed):
                    return message
                self._over = True
            self._answer()
            if not self._over and not self._waiting:
                self._fill()
        return None

    def send(self, message: bytes | str) -> None:
        kind, payload = (TEXT, message.encode()) if isinstance(message, str) else (BINARY, message)
        try:
            self._stream.write(frame(kind, payload))
        except OSError as error:
            raise connection_error(f"the connection to {self._url} is closed ({error})", sent=True) from error

    def close(self) -> None:
        self._over = True
        try:
            self._stream.write(frame(CLOSE, GOING))
        except OSError:
            pass
        self._stream.close()

    def _fill(self) -> None:
        try:
            chunk = self._stream.read()
        except OSError:
            chunk = b""
        if not chunk:
            self._over = True
            return
        try:
            self._waiting.extend(self._frames.feed(chunk))
        except ProtocolError as error:
            self._over = True
            raise connection_error(f"the connection to {self._url} broke ({error})", sent=True) from error

    def _answer(self) -> None:
        answers, self._frames.answers = self._frames.answers, []
        try:
            for one in answers:
                self._stream.write(one)
        except OSError:
            self._over = True


def open_web_socket(
    request: httpx.Request, *, tls: ssl.SSLContext | None, connect_within: float, answer_within: float
) -> WebSocket:
    """Raises errors of the system and of the protocol as they are, and a refusal as the problem it is.

    ``tls``: None for a server without.
    """
    url = request.url
    key = new_key()
    headers = [(name, value) for name, value in request.headers.items() if name not in NOT_SENT]
    head = opening(url.raw_path.decode("ascii"), headers, key)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        stream = ByteStream.open(url.host, port, tls, connect_within)
    except TimeoutError:
        raise OSError(f"no connection within {connect_within:g} s") from None
    try:
        stream.write(head)
        buffer = b""
        while (answer := read_answer(buffer)) is None:
            chunk = stream.read(answer_within)
            if not chunk:
                raise ConnectionResetError("it was closed before an answer came")
            buffer += chunk
        if answer.status != 101:
            body = _body(stream, answer, answer_within)
            raise error_from_answer(answer.status, body.decode("utf-8", "replace"), answer.headers)
        if not proves(answer, key):
            raise ProtocolError("what answers is not a WebSocket")
        return WebSocket(stream, answer.rest, f"{url.scheme}://{url.host}:{port}")
    except BaseException:
        stream.close()
        raise


def _body(stream: ByteStream, answer: Answer, within: float) -> bytes:
    """As long as it says to be, or until nothing follows."""
    stated = answer.headers.get("content-length", "")
    size = min(int(stated), MAX_MESSAGE_BYTES) if stated.isdigit() else MAX_MESSAGE_BYTES
    body = answer.rest
    while len(body) < size and (chunk := stream.read(within)):
        body += chunk
    return body
