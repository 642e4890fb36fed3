"""States as text: lower case in the API, capitalised in tables. Programs may compare with either form."""

from __future__ import annotations

__all__ = ["FINAL_STATES", "State"]


class State(str):
    """``State("running") == "Running"``; printed as received."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__eq__(self.lower(), other.lower())

    def __ne__(self, other: object) -> bool:
        return not self == other

    # The hash of the lower-case form, so that sets and dictionaries of lower-case states find it.
    def __hash__(self) -> int:
        return hash(self.lower())

    @property
    def is_final(self) -> bool:
        """Whether the state is final."""
        return self.lower() in FINAL_STATES


FINAL_STATES = frozenset({"completed", "failed", "cancelled"})
