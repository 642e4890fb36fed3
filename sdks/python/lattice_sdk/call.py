"""One call as a value: the request, the parser of the response, and whether it may be repeated. Both clients perform
the same values, so they cannot differ.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from .decode import decode

__all__ = ["API", "Call", "at", "change", "items", "part", "query", "read"]

API = "/api/v1"

T = TypeVar("T")

Query = list[tuple[str, str | int | float | bool | None]]
"""In the form of httpx."""


@dataclass(frozen=True, kw_only=True)
class Call(Generic[T]):
    method: str
    path: str
    parse: Callable[[Any], T]
    query: Query = field(default_factory=list)
    body: bytes | None = None
    content_type: str = "application/json"
    repeatable: bool = False
    """Whether a repetition is safe: a read, or a change with a request id."""
    timeout: float | None = None
    """Seconds to wait for the response. None: the client's timeout."""
    headers: Mapping[str, str] = field(default_factory=dict)


def read(
    path: str,
    kind: type[T] | None = None,
    parse: Callable[[Any], T] | None = None,
    timeout: float | None = None,
    **filters: Any,
) -> Call[T]:
    parser = _parser(kind, parse)
    return Call(method="GET", path=path, query=query(filters), parse=parser, repeatable=True, timeout=timeout)


def part(name: str, kind: type[T]) -> Callable[[Any], T]:
    """Parses one field of the answer."""
    return lambda data: decode(kind, data[name])


def items(name: str, kind: type[T]) -> Callable[[Any], list[T]]:
    """Parses a list in the answer."""
    return lambda data: [decode(kind, one) for one in data.get(name) or []]


def change(
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    kind: type[T] | None = None,
    parse: Callable[[Any], T] | None = None,
    request_id: str | None | bool = None,
    repeatable: bool = False,
    timeout: float | None = None,
) -> Call[T]:
    """``request_id``: a text; None for a new one; False for a route without request ids."""
    fields = {name: value for name, value in (body or {}).items() if value is not None}
    if request_id is not False:
        fields["request_id"] = str(request_id) if request_id else str(uuid.uuid4())
    # A DELETE has no body: its path names the object.
    in_address = method == "DELETE"
    return Call(
        method=method,
        path=path,
        query=query(fields) if in_address else [],
        body=json.dumps(fields).encode() if not in_address and (body is not None or fields) else None,
        parse=_parser(kind, parse),
        repeatable=repeatable or request_id is not False,
        timeout=timeout,
    )


def at(*parts: str) -> str:
    """A path below the API's root; every part is one segment."""
    return API + "".join(f"/{quote(part, safe=':')}" for part in parts)


def query(filters: Mapping[str, Any]) -> Query:
    """Repeats keys for lists and drops absent or empty values. ``from_`` stands for ``from``, a keyword of Python."""
    return [
        (name.removesuffix("_"), _text(one))
        for name, value in filters.items()
        if value is not None and value != ""
        for one in (value if isinstance(value, (list, tuple, set, frozenset)) else [value])
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    return str(value)


def _parser(kind: type[T] | None, parse: Callable[[Any], T] | None) -> Callable[[Any], T]:
    if parse is not None:
        return parse
    if kind is None:
        return _as_it_is
    return partial(decode, kind)


def _as_it_is(data: Any) -> Any:
    return data
