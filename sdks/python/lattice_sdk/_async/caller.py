"""Performs calls over HTTP: headers, retries and errors of the catalogue. It remembers the log index of its last change and
sends it with every call, so that a client reads its own writes through any server. When a server is unreachable
or cannot serve, it uses the next one.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx

from ..call import Call
from ..cluster import checked_cluster_id, cluster_headers, foreign_cluster
from ..errors import (
    LatticeConnectionError,
    LatticeError,
    LatticeInvalidError,
    LatticeNotAvailableError,
    LatticeServerError,
    LatticeTimeoutError,
    LatticeUnavailableError,
    connection_error,
    error_from_answer,
)
from ..retry import RetryPolicy, pause_before_retry
from ..tokens import TokenSource
from ..web_socket import ProtocolError
from .web_socket import WebSocket, open_web_socket

__all__ = ["Caller"]

T = TypeVar("T")

CONNECT_WITHIN = 10.0


class Caller:
    def __init__(
        self,
        *,
        url: str,
        token: TokenSource,
        headers: Mapping[str, str],
        cluster_id: str | None,
        timeout: float,
        retry: RetryPolicy,
        verify: bool | str,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self.url = url
        """One or more servers of one cluster, separated by commas."""
        self.retry = retry
        self._servers = url.split(",")
        self._turn = 0
        self._token = token
        self._cluster_id = checked_cluster_id(cluster_id)
        self._timeout = timeout
        self._least_index = 0
        self._verify = verify
        self._own_transport = transport is not None
        # The environment could add a proxy, or another identity from netrc.
        self._http = httpx.AsyncClient(
            headers=cluster_headers(headers, cluster_id), verify=verify, transport=transport, trust_env=False
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, call: Call[T]) -> T:
        async with self.open(call, read_timeout=call.timeout or self._timeout) as response:
            body = await self._text(response)
        data = _json(body, response)
        self._remember(call, data)
        try:
            return call.parse(data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            detail = f"the answer to {call.method} {call.path} does not have the shape that was expected: {error!r}"
            raise LatticeServerError(detail, status_code=response.status_code) from error

    @asynccontextmanager
    async def open(self, call: Call[Any], *, read_timeout: float | None) -> AsyncIterator[httpx.Response]:
        """Returns the response with its body unread. ``read_timeout`` None: no timeout."""
        response = await self._answer(call, read_timeout)
        try:
            yield response
        finally:
            await response.aclose()

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Yields the body; an interrupted stream raises an error of the catalogue, as a call does."""
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx.HTTPError as error:
            raise self._from_transport(error) from error

    def learn(self, urls: Sequence[str]) -> None:
        """Adds servers of the same cluster. A server reached over TLS is not replaced by one without."""
        scheme = self._server().split(":")[0]
        for url in urls:
            if url.split(":")[0] == scheme and url not in self._servers:
                self._servers.append(url)

    async def web_socket(self, call: Call[Any]) -> WebSocket:
        """Opens a WebSocket on its own connection, outside httpx; a custom transport cannot carry it."""
        if self._own_transport:
            detail = "a client with a custom transport cannot open terminals"
            raise LatticeNotAvailableError(detail, code="unsupported_feature")
        return await self._tried(call, lambda: self._upgraded(call))

    async def _answer(self, call: Call[Any], read_timeout: float | None) -> httpx.Response:
        return await self._tried(call, lambda: self._once(call, read_timeout))

    async def _tried(self, call: Call[Any], once: Callable[[], Awaitable[T]]) -> T:
        began = time.monotonic()
        tries = 0
        answers: dict[str, LatticeError] = {}
        while True:
            server = self._server()
            try:
                return await once()
            except LatticeError as error:
                answers[server] = error
                self._pass_on(server, error)
                elapsed = time.monotonic() - began
                pause = pause_before_retry(
                    self.retry, error, tries=tries, elapsed=elapsed, repeatable=call.repeatable
                )
                if pause is None:
                    raise _most_telling(error, answers) from error.__cause__
            tries += 1
            await asyncio.sleep(pause)

    async def _once(self, call: Call[Any], read_timeout: float | None) -> httpx.Response:
        request = self._http.build_request(
            call.method,
            self._server() + call.path,
            params=call.query or None,
            content=call.body,
            headers=self._headers(call),
            timeout=httpx.Timeout(read_timeout, connect=CONNECT_WITHIN),
        )
        try:
            response = await self._http.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._from_transport(error) from error
        if response.is_success:
            if (foreign := foreign_cluster(self._cluster_id, response.headers)) is not None:
                await response.aclose()
                raise foreign
            return response
        try:
            text = await self._text(response)
        finally:
            await response.aclose()
        raise error_from_answer(response.status_code, text, response.headers)

    async def _upgraded(self, call: Call[Any]) -> WebSocket:
        url = self._server() + call.path
        request = self._http.build_request("GET", url, params=call.query or None, headers=self._headers(call))
        try:
            tls = self._tls() if request.url.scheme == "https" else None
            return await open_web_socket(
                request, tls=tls, connect_within=CONNECT_WITHIN, answer_within=self._timeout
            )
        except ProtocolError as error:
            raise connection_error(f"no Lattice server answers at {self.url} ({error})", sent=True) from error
        except TimeoutError as error:
            raise self._too_late() from error
        except OSError as error:
            sent = isinstance(error, (ConnectionResetError, BrokenPipeError))
            raise connection_error(f"no server answers at {self.url} ({error})", sent=sent) from error
        except ValueError as error:
            raise LatticeInvalidError(f"the request cannot be sent: {error}", code="invalid_argument") from error

    def _tls(self) -> ssl.SSLContext:
        context = httpx.create_ssl_context(verify=self._verify, trust_env=False)
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def _text(self, response: httpx.Response) -> str:
        try:
            return (await response.aread()).decode("utf-8", "replace")
        except httpx.HTTPError as error:
            raise self._from_transport(error) from error

    def _server(self) -> str:
        return self._servers[self._turn % len(self._servers)]

    def _pass_on(self, failed: str, error: LatticeError) -> None:
        """Moves to the next server, once for all calls that failed at the same one."""
        if isinstance(error, LatticeUnavailableError) and failed == self._server():
            self._turn += 1

    def _headers(self, call: Call[Any]) -> dict[str, str]:
        token = self._token()
        return {
            "accept": "application/json",
            **({} if token is None else {"authorization": f"Bearer {token}"}),
            **({} if call.body is None else {"content-type": call.content_type}),
            **({} if self._least_index == 0 else {"x-lattice-min-index": str(self._least_index)}),
            **call.headers,
        }

    def _remember(self, call: Call[Any], data: Any) -> None:
        index = data.get("log_index") if isinstance(data, dict) else None
        if call.method != "GET" and isinstance(index, str) and index.isdigit():
            self._least_index = max(self._least_index, int(index))

    def _from_transport(self, error: httpx.HTTPError) -> LatticeError:
        text = str(error) or type(error).__name__
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)):
            return connection_error(f"no server answers at {self.url} ({text})", sent=False)
        if isinstance(error, httpx.TimeoutException):
            return self._too_late()
        return connection_error(f"the connection to {self.url} broke ({text})", sent=True)

    def _too_late(self) -> LatticeTimeoutError:
        detail = f"no answer from {self.url} within the time allowed"
        return LatticeTimeoutError(detail, code="deadline_exceeded", retryable=True)


def _most_telling(last: LatticeError, answers: Mapping[str, LatticeError]) -> LatticeError:
    """The refusal of a server says more than the failure to reach another one. ``answers``: the last of each server."""
    if not isinstance(last, LatticeConnectionError) or last.sent:
        return last
    told = [error for error in answers.values() if not isinstance(error, LatticeConnectionError)]
    return told[-1] if told else last


def _json(body: str, response: httpx.Response) -> Any:
    try:
        return json.loads(body or "{}")
    except ValueError:
        raise error_from_answer(response.status_code, f"the answer is not JSON: {body}") from None
