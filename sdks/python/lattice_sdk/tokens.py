"""The token of a call: the given one, LATTICE_TOKEN, the one that ``lattice up`` of root gives to this account, or the one
that ``lattice login`` stored for this server. The file is read for every call, because the CLI renews its tokens. A file that other users can read is refused: they may know
the tokens.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from .errors import LatticeAuthError

__all__ = ["TokenSource", "cached_token", "token_source"]

TokenSource = Callable[[], "str | None"]

SOCKETS = Path("/run/lattice")
PATIENCE_S = 3.0
RENEW_BEFORE_S = 120
MAX_ANSWER = 16_384
_local: dict[str, tuple[str, float]] = {}

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


def local_token(url: str) -> str | None:
    """Asks the socket of ``lattice up`` of root, which knows the calling account from the kernel."""
    parts = urlsplit(url.split(",")[0])
    if parts.scheme != "http" or parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        return None
    path = SOCKETS / f"up-{parts.port or 80}.sock"
    kept = _local.get(str(path))
    if kept is not None and kept[1] > time.time() + RENEW_BEFORE_S:
        return kept[0]
    try:
        folder = SOCKETS.stat()
        if folder.st_uid != 0 or folder.st_mode & 0o022 or not stat.S_ISSOCK(path.lstat().st_mode):
            return None
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE_S)
            client.connect(str(path))
            answer = b""
            while len(answer) < MAX_ANSWER and (part := client.recv(4096)):
                answer += part
        given = json.loads(answer)
        _local[str(path)] = (str(given["token"]), float(given["expires_at"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _local[str(path)][0]


def _always(token: str) -> TokenSource:
    return lambda: token


def _from_surroundings(env: Mapping[str, str], url: str) -> str | None:
    stated = env.get("LATTICE_TOKEN")
    if stated:
        return stated
    local = local_token(url)
    if local is not None:
        return local
    base = env.get("XDG_CONFIG_HOME") or (f"{env['HOME']}/.config" if env.get("HOME") else "")
    return cached_token(Path(base) / "lattice" / "tokens.json", url) if base else None
