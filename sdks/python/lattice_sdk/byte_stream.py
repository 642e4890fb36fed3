"""A connection as bytes in both directions, once for each client, with the same names, so that the synchronous client can be
built from the asynchronous one. Errors of the system pass through unchanged; the caller translates them. Each write
is sent whole, also with several writers, and the synchronous one may be read and written by two threads.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
import ssl
import threading

__all__ = ["AsyncByteStream", "ByteStream", "CHUNK_BYTES"]

CHUNK_BYTES = 64 * 1024

CLOSE_WITHIN = 5.0
"""Seconds for the last bytes to be sent."""


class AsyncByteStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @staticmethod
    async def open(host: str, port: int, tls: ssl.SSLContext | None, within: float) -> AsyncByteStream:
        async with asyncio.timeout(within):
            reader, writer = await asyncio.open_connection(host, port, ssl=tls, server_hostname=host if tls else None)
        _make_lively(writer.get_extra_info("socket"))
        return AsyncByteStream(reader, writer)

    async def read(self, within: float | None = None) -> bytes:
        """Returns the next bytes; empty at the end of the stream."""
        async with asyncio.timeout(within):
            return await self._reader.read(CHUNK_BYTES)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def aclose(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._writer.wait_closed()
        except OSError:
            self._writer.transport.abort()


class ByteStream:
    """The socket never blocks by itself: OpenSSL must not read and write one connection at the same moment, so each
    step is short and under a lock, and waiting is apart.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._step = threading.Lock()
        self._whole = threading.Lock()

    @staticmethod
    def open(host: str, port: int, tls: ssl.SSLContext | None, within: float) -> ByteStream:
        plain = socket.create_connection((host, port), timeout=within)
        try:
            _make_lively(plain)
            return ByteStream(plain if tls is None else tls.wrap_socket(plain, server_hostname=host))
        except BaseException:
            plain.close()
            raise

    def read(self, within: float | None = None) -> bytes:
        """Returns the next bytes; empty at the end of the stream."""
        while True:
            try:
                with self._step:
                    return self._socket.recv(CHUNK_BYTES)
            except (BlockingIOError, ssl.SSLWantReadError):
                self._wait(selectors.EVENT_READ, within)
            except ssl.SSLWantWriteError:
                self._wait(selectors.EVENT_WRITE, within)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._whole:
            while rest:
                try:
                    with self._step:
                        rest = rest[self._socket.send(rest) :]
                except (BlockingIOError, ssl.SSLWantWriteError):
                    self._wait(selectors.EVENT_WRITE, None)
                except ssl.SSLWantReadError:
                    self._wait(selectors.EVENT_READ, None)

    def close(self) -> None:
        """Wakes a reader in another thread."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    def _wait(self, events: int, within: float | None) -> None:
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, events)
                ready = selector.select(within)
        except (ValueError, KeyError) as error:
            raise OSError("the connection is closed") from error
        if not ready:
            raise TimeoutError


def _make_lively(connection: socket.socket) -> None:
    """Disables Nagle's algorithm for keystrokes, and enables keepalive to notice a dead server."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
