"""A WebSocket on its own connection: sends and receives whole messages and answers pings. One reader."""

from __future__ import annotations

import ssl

import httpx

from ..byte_stream import AsyncByteStream
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
    def __init__(self, stream: AsyncByteStream, first: bytes, url: str) -> None:
        self._stream = stream
        self._url = url
        self._frames = FrameReader()
        self._waiting = list(self._frames.feed(first))
        self._over = False

    async def receive(self) -> bytes | str | None:
        """Returns the next message; None when the connection is closed or lost."""
        while not self._over or self._waiting:
            if self._waiting:
                message = self._waiting.pop(0)
                if not isinstance(message, Closed):
                    return message
                self._over = True
            await self._answer()
            if not self._over and not self._waiting:
                await self._fill()
        return None

    async def send(self, message: bytes | str) -> None:
        kind, payload = (TEXT, message.encode()) if isinstance(message, str) else (BINARY, message)
        try:
            await self._stream.write(frame(kind, payload))
        except OSError as error:
            raise connection_error(f"the connection to {self._url} is closed ({error})", sent=True) from error

    async def aclose(self) -> None:
        self._over = True
        try:
            await self._stream.write(frame(CLOSE, GOING))
        except OSError:
            pass
        await self._stream.aclose()

    async def _fill(self) -> None:
        try:
            chunk = await self._stream.read()
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

    async def _answer(self) -> None:
        answers, self._frames.answers = self._frames.answers, []
        try:
            for one in answers:
                await self._stream.write(one)
        except OSError:
            self._over = True


async def open_web_socket(
    request: httpx.Request, *, tls: ssl.SSLContext | None, connect_within: float, answer_within: float
) -> WebSocket:
    """Raises errors of the system and of the protocol unchanged, and a refusal as a problem.

    ``tls``: None for a server without.
    """
    url = request.url
    key = new_key()
    headers = [(name, value) for name, value in request.headers.items() if name not in NOT_SENT]
    head = opening(url.raw_path.decode("ascii"), headers, key)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        stream = await AsyncByteStream.open(url.host, port, tls, connect_within)
    except TimeoutError:
        raise OSError(f"no connection within {connect_within:g} s") from None
    try:
        await stream.write(head)
        buffer = b""
        while (answer := read_answer(buffer)) is None:
            chunk = await stream.read(answer_within)
            if not chunk:
                raise ConnectionResetError("it was closed before an answer came")
            buffer += chunk
        if answer.status != 101:
            body = await _body(stream, answer, answer_within)
            raise error_from_answer(answer.status, body.decode("utf-8", "replace"), answer.headers)
        if not proves(answer, key):
            raise ProtocolError("what answers is not a WebSocket")
        return WebSocket(stream, answer.rest, f"{url.scheme}://{url.host}:{port}")
    except BaseException:
        await stream.aclose()
        raise


async def _body(stream: AsyncByteStream, answer: Answer, within: float) -> bytes:
    """Reads the body up to its content length, or to the end of the stream."""
    stated = answer.headers.get("content-length", "")
    size = min(int(stated), MAX_MESSAGE_BYTES) if stated.isdigit() else MAX_MESSAGE_BYTES
    body = answer.rest
    while len(body) < size and (chunk := await stream.read(within)):
        body += chunk
    return body
