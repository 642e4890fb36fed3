"""The answer of a server's health check, which is not part of the contract."""

from __future__ import annotations

from dataclasses import dataclass

from ..record import Record

__all__ = ["Health"]


@dataclass(frozen=True, kw_only=True)
class Health(Record):
    status: str = ""
    server: str = ""
    version: str = ""
    leader: str = ""
    is_leader: bool = False
    log_index: str = ""
