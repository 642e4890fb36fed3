"""Sizes, signals and ends of terminals. Invalid values are rejected before anything is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..errors import FieldProblem, LatticeInvalidError

__all__ = ["TerminalEnd", "TerminalSignal", "checked_signal", "checked_size"]

MAX_SIDE = 4096
"""Rows or columns that a server accepts."""

TerminalSignal = Literal["int", "tstp", "hup", "quit", "term", "kill", "cont", "usr1", "usr2"]


@dataclass(frozen=True)
class TerminalEnd:
    """``exit_code`` is -1 if the terminal was disconnected, with the ``reason``."""

    exit_code: int = 0
    reason: str = ""


def checked_size(size: Any) -> tuple[int, int]:
    """Rows and columns."""
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise _invalid("size", f"is {size!r}, not a pair of rows and columns")
    rows, columns = size
    return checked_side("rows", rows), checked_side("columns", columns)


def checked_side(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _invalid(name, f"is {value!r}, not a whole number")
    if not 1 <= value <= MAX_SIDE:
        raise _invalid(name, f"is {value}; at least 1 and at most {MAX_SIDE}")
    return value


def checked_signal(name: Any) -> str:
    known = get_args(TerminalSignal)
    plain = name.lower().removeprefix("sig") if isinstance(name, str) else name
    if plain not in known:
        raise _invalid("signal", f"is {name!r}, which no terminal passes on", f"One of {', '.join(known)}.")
    return str(plain)


def _invalid(field: str, detail: str, hint: str = "") -> LatticeInvalidError:
    text = f"{field} {detail}"
    return LatticeInvalidError(
        text, code="invalid_argument", hint=hint, fields=(FieldProblem(field, detail, hint),)
    )
