"""The client: every call of the API in one object. It holds connections and the log index of its last change, and may be
shared by several tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import httpx

from ..address import authority, identity_headers, server_url
from ..retry import RetryPolicy
from ..tokens import TokenSource, token_source
from .caller import Caller
from .forms import FormCalls
from .generated import GeneratedCalls
from .events import EventCalls
from .monitoring import MonitoringCalls
from .sessions import SessionCalls

__all__ = ["LatticeClient"]

DEFAULT_TIMEOUT = 30.0


class LatticeClient(FormCalls, MonitoringCalls, EventCalls, SessionCalls, GeneratedCalls):
    """``host`` is a name, host:port or a whole URL, or several of one cluster, separated by commas. Default:
    LATTICE_API_URL.
    """

    def __init__(
        self,
        host: str | None = None,
        port: int | None = None,
        *,
        token: str | TokenSource | None = None,
        user: str | None = None,
        tenant: str | None = None,
        cluster_id: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retry: RetryPolicy = RetryPolicy(),
        verify: bool | str = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """``token``: a text or a function that returns one. Default: LATTICE_TOKEN, then the one of ``lattice login``.
        ``user`` and ``tenant`` apply only to a cluster without authentication. ``verify``: a file of trusted
        certificates (default: LATTICE_CA), or False to trust any. ``cluster_id``: the identity of the cluster, from ``lattice
        admin raft status``; calls to a server of another one fail. ``timeout``: seconds without a byte of the response.
        """
        self.url = server_url(host, port)
        self._caller = Caller(
            url=self.url,
            token=token_source(token, self.url),
            headers=identity_headers(user=user, tenant=tenant, headers=headers),
            cluster_id=cluster_id,
            timeout=timeout,
            retry=retry,
            verify=authority(verify),
            transport=transport,
        )

    async def __aenter__(self) -> LatticeClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._caller.close()
