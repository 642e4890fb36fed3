"""The base of every model: fields that a newer server adds are kept, and fields can be read by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Record"]


@dataclass(frozen=True, kw_only=True)
class Record:
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Any:
        """``record["id"]`` is ``record.id``; KeyError for an unknown field."""
        if name in self.extra:
            return self.extra[name]
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None
