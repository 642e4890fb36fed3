# Made from caller.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""Performs calls over HTTP: headers, retries, and errors of the catalogue from whatever goes wrong. It remembers the
newest log index that a change was answered with and sends it along, so that a client reads its own writes through any
server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx

from ..call import Call
from ..errors import LatticeError, LatticeServerError, LatticeTimeoutError, connection_error, error_from_answer
from ..retry import RetryPolicy, pause_before_retry
from ..tokens import TokenSource

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
        timeout: float,
        retry: RetryPolicy,
        verify: bool | str,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.url = url
        self.retry = retry
        self._token = token
        self._timeout = timeout
        self._least_index = 0
        # The environment could bring a proxy or, from netrc, another identity than the one stated.
        self._http = httpx.Client(
            base_url=url, headers=dict(headers), verify=verify, transport=transport, trust_env=False
        )

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call[T]) -> T:
        with self.open(call, read_timeout=call.timeout or self._timeout) as response:
            body = self._text(response)
        data = _json(body, response)
        self._remember(call, data)
        try:
            return call.parse(data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            detail = f"the answer to {call.method} {call.path} does not have the shape that was expected: {error!r}"
            raise LatticeServerError(detail, status_code=response.status_code) from error

    @contextmanager
    def open(self, call: Call[Any], *, read_timeout: float | None) -> Iterator[httpx.Response]:
        """The answer with its body unread. ``read_timeout`` None: it may be silent for ever."""
        response = self._answer(call, read_timeout)
        try:
            yield response
        finally:
            response.close()

    def chunks(self, response: httpx.Response) -> Iterator[bytes]:
        """A stream that breaks on the way fails with an error of the catalogue, as a call does."""
        try:
            for chunk in response.iter_bytes():
                yield chunk
        except httpx.HTTPError as error:
            raise self._from_transport(error) from error

    def _answer(self, call: Call[Any], read_timeout: float | None) -> httpx.Response:
        began = time.monotonic()
        tries = 0
        while True:
            try:
                return self._once(call, read_timeout)
            except LatticeError as error:
                elapsed = time.monotonic() - began
                pause = pause_before_retry(
                    self.retry, error, tries=tries, elapsed=elapsed, repeatable=call.repeatable
                )
                if pause is None:
                    raise
            tries += 1
            time.sleep(pause)

    def _once(self, call: Call[Any], read_timeout: float | None) -> httpx.Response:
        request = self._http.build_request(
            call.method,
            call.path,
            params=call.query or None,
            content=call.body,
            headers=self._headers(call),
            timeout=httpx.Timeout(read_timeout, connect=CONNECT_WITHIN),
        )
        try:
            response = self._http.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._from_transport(error) from error
        if response.is_success:
            return response
        try:
            text = self._text(response)
        finally:
            response.close()
        raise error_from_answer(response.status_code, text, response.headers)

    def _text(self, response: httpx.Response) -> str:
        try:
            return (response.read()).decode("utf-8", "replace")
        except httpx.HTTPError as error:
            raise self._from_transport(error) from error

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
            detail = f"no answer from {self.url} within the time allowed"
            return LatticeTimeoutError(detail, code="deadline_exceeded", retryable=True)
        return connection_error(f"the connection to {self.url} broke ({text})", sent=True)


def _json(body: str, response: httpx.Response) -> Any:
    try:
        return json.loads(body or "{}")
    except ValueError:
        raise error_from_answer(response.status_code, f"the answer is not JSON: {body}") from None
