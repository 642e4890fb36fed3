"""Convenience members of generated models."""

from __future__ import annotations

from typing import Any, Protocol, cast

from ..record import Record

__all__ = ["MemberIds", "SessionId", "SpecNames"]


class SpecNames(Record):
    """Name and tenant of an allocation, from its specification."""

    @property
    def name(self) -> str:
        return str(self["spec"].get("name") or "")

    @property
    def tenant(self) -> str:
        return str(self["spec"].get("tenant") or "")


class SessionId(Record):
    @property
    def id(self) -> str:
        return str(self["session_id"])


class _Member(Protocol):
    name: str
    allocation_id: str


class MemberIds(Record):
    def allocation_id(self, name: str) -> str:
        """Returns the allocation of the member with this name; KeyError if there is none."""
        members = cast("list[_Member]", cast(Any, self).members)
        return {member.name: member.allocation_id for member in members}[name]
