"""Decodes JSON into dataclasses by their type hints. The server omits empty fields, so every field has a default;
fields of a newer server are kept in ``extra``.
"""

from __future__ import annotations

import dataclasses
import keyword
import types
import typing
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from .state import State

__all__ = ["decode", "instant"]

T = TypeVar("T")


def decode(kind: type[T], data: Any) -> T:
    """Raises TypeError for a response that does not have the shape of ``kind``: a defect of client or server."""
    if not isinstance(data, Mapping):
        raise TypeError(f"{kind.__name__} cannot be read from {type(data).__name__}")
    hints = _hints(typing.cast(Any, kind))
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, item in data.items():
        name = f"{key}_" if keyword.iskeyword(key) else key
        if name not in hints:
            extra[key] = item
        elif item is not None:
            known[name] = _value(hints[name], item)
    if "extra" in hints:
        known["extra"] = extra
    return kind(**known)


def instant(text: str) -> datetime:
    """RFC 3339, as the server writes it."""
    return datetime.fromisoformat(text)


@lru_cache(maxsize=None)
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _value(hint: Any, item: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        inner = next(part for part in typing.get_args(hint) if part is not type(None))
        return _value(inner, item)
    if origin is list:
        return [_value(typing.get_args(hint)[0], one) for one in item]
    if origin is dict:
        return {name: _value(typing.get_args(hint)[1], one) for name, one in item.items()}
    if dataclasses.is_dataclass(hint):
        return decode(typing.cast(type, hint), item)
    if hint is State:
        return State(item)
    if hint is datetime:
        return instant(item)
    if hint is float:
        return float(item)
    return item
