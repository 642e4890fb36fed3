"""Walks a list page by page and fetches the next page only when it is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from ..call import read
from ..decode import decode
from .caller import Caller

__all__ = ["each_item", "listed"]

T = TypeVar("T")

PAGE_SIZE = 200


async def each_item(
    caller: Caller, path: str, name: str, kind: type[T], filters: Mapping[str, Any], limit: int | None = None
) -> AsyncIterator[T]:
    """``name`` is the field of the response that holds the list."""
    token: str | None = None
    given = 0
    while limit is None or given < limit:
        size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - given)
        page: dict[str, Any] = await caller.send(read(path, **filters, page_size=size, page_token=token))
        for item in page.get(name) or []:
            yield decode(kind, item)
            given += 1
        token = page.get("next_page_token") or None
        if token is None:
            return


async def listed(
    caller: Caller, path: str, name: str, kind: type[T], filters: Mapping[str, Any], limit: int | None = None
) -> list[T]:
    return [item async for item in each_item(caller, path, name, kind, filters, limit)]
