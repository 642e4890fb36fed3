"""The cluster the tests run against: the one that LATTICE_API_URL names, or, without it, the built programs started
here on ports of the system's choice. Tests that stop the server run only against one that was started here, so they
always start their own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from cluster import Cluster

from lattice_sdk import LatticeClient, SyncLatticeClient

T = TypeVar("T")


@pytest.fixture(scope="session")
def api_url() -> Iterator[str]:
    given = os.environ.get("LATTICE_API_URL")
    if given:
        yield given
        return
    with Cluster(nodes=2) as cluster:
        yield cluster.url


@pytest.fixture
def client(api_url: str) -> Iterator[SyncLatticeClient]:
    with SyncLatticeClient(api_url, user="ada") as opened:
        yield opened


Within = Callable[[Callable[[LatticeClient], Coroutine[Any, Any, T]]], T]


@pytest.fixture
def run_async(api_url: str) -> Within[Any]:
    """Runs a coroutine function with an asynchronous client."""

    async def around(body: Callable[[LatticeClient], Coroutine[Any, Any, Any]]) -> Any:
        async with LatticeClient(api_url, user="ada") as opened:
            return await asyncio.wait_for(body(opened), 240)

    return lambda body: asyncio.run(around(body))
