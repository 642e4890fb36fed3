"""Ports that running allocations expose, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Service", "ServiceEndpoint", "ServiceSummary"]


@dataclass(frozen=True, kw_only=True)
class ServiceSummary:
    name: str = ""
    tenant: str = ""
    endpoints: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ServiceEndpoint:
    allocation_id: str = ""
    tenant: str = ""
    node: str = ""
    address: str = ""
    """Of the node."""
    port: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Service:
    name: str = ""
    endpoints: list[ServiceEndpoint] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
