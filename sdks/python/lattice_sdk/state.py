"""States as text. On the wire they are lower case, in tables and prose capitalised; a program may compare with
either.
"""

from __future__ import annotations

__all__ = ["FINAL_STATES", "State"]


class State(str):
    """``State("running") == "Running"``; printed as it came."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__eq__(self.lower(), other.lower())

    def __ne__(self, other: object) -> bool:
        return not self == other

    # Of the wire's spelling, so that sets and dictionaries of lower-case states find it.
    def __hash__(self) -> int:
        return hash(self.lower())

    @property
    def is_final(self) -> bool:
        """Nothing follows."""
        return self.lower() in FINAL_STATES


FINAL_STATES = frozenset({"completed", "failed", "cancelled"})
