"""The token of a call: the given one, LATTICE_TOKEN, or the one that ``lattice login`` stored for this server. The file
is read for every call, because the CLI renews its tokens. A file that other users can read is refused: they may know
the tokens.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from .errors import LatticeAuthError

__all__ = ["TokenSource", "cached_token", "token_source"]

TokenSource = Callable[[], "str | None"]

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def token_source(given: str | TokenSource | None, url: str, env: Mapping[str, str] | None = None) -> TokenSource:
    """Returns None without a token; the server decides whether it needs one."""
    if callable(given):
        return given
    if given:
        return _always(given)
    return lambda: _from_surroundings(os.environ if env is None else env, url)


def cached_token(path: Path, url: str) -> str | None:
    try:
        if path.stat().st_mode & OTHERS:
            raise LatticeAuthError(
                f"{path} can be read by others, so the tokens in it are not used",
                code="unauthenticated",
                hint=f"Run `chmod 600 {path}`, or remove it and log in again.",
            )
        kept = json.loads(path.read_text("utf-8"))
        entry = kept.get(url)
        return None if entry is None else str(entry["accessToken"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Remove it and log in again."
        raise LatticeAuthError(f"{path} is damaged", code="unauthenticated", hint=hint) from error


def _always(token: str) -> TokenSource:
    return lambda: token


def _from_surroundings(env: Mapping[str, str], url: str) -> str | None:
    stated = env.get("LATTICE_TOKEN")
    if stated:
        return stated
    base = env.get("XDG_CONFIG_HOME") or (f"{env['HOME']}/.config" if env.get("HOME") else "")
    return cached_token(Path(base) / "lattice" / "tokens.json", url) if base else None
