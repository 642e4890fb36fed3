"""Software images, and what nodes keep of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["CachedImage", "Image", "NodeCache"]


@dataclass(frozen=True, kw_only=True)
class Image:
    name: str = ""
    digest: str = ""
    size_bytes: float = 0.0
    mount: str = ""
    views: list[dict[str, str]] = field(default_factory=list)
    signed: bool = False
    description: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CachedImage:
    name: str = ""
    digest: str = ""
    kind: str = ""
    size_bytes: float = 0.0
    last_used: datetime | None = None
    sticky: bool = False
    pins: int = 0
    other_names: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NodeCache:
    node: str = ""
    error: str = ""
    """Empty: it was done."""
    size_bytes: float = 0.0
    used_bytes: float = 0.0
    images: list[CachedImage] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
