"""The server's URL and the caller's identity, from arguments and the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

__all__ = ["authority", "identity_headers", "server_url"]

DEFAULT_PORT = 8080
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"


def server_url(host: str | None, port: int | None, env: Mapping[str, str] | None = None) -> str:
    """``host`` may be a name, host:port or a whole URL. Default: LATTICE_API_URL.

    Several servers of one cluster are separated by commas, in ``host`` and in the result.
    """
    environment = os.environ if env is None else env
    if not host:
        text = environment.get("LATTICE_API_URL") or environment.get("LATTICE_ENDPOINT") or DEFAULT_URL
        return ",".join(_with_scheme(url.strip()) for url in text.split(","))
    return ",".join(_one_url(name.strip(), port) for name in host.split(","))


def authority(verify: bool | str, env: Mapping[str, str] | None = None) -> bool | str:
    """Returns the trusted certificates: the given ones, or else the file of LATTICE_CA."""
    environment = os.environ if env is None else env
    return (environment.get("LATTICE_CA") or True) if verify is True else verify


def _one_url(host: str, port: int | None) -> str:
    if "://" in host or re.search(r"[^:]:\d+$", host):
        return _with_scheme(host if port is None else f"{host.rstrip('/')}:{port}")
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return _with_scheme(f"{name}:{DEFAULT_PORT if port is None else port}")


def identity_headers(
    *, user: str | None, tenant: str | None, headers: Mapping[str, str] | None, env: Mapping[str, str] | None = None
) -> dict[str, str]:
    """``X-Tenant`` means the tenant, as ``tenant`` does."""
    environment = os.environ if env is None else env
    given = {name.lower(): value for name, value in (headers or {}).items()}
    user = user or environment.get("LATTICE_USER") or None
    tenant = tenant or given.get("x-tenant") or environment.get("LATTICE_TENANT") or None
    stated = {
        **({} if user is None else {"x-lattice-user": _header_text(user)}),
        **({} if tenant is None else {"x-lattice-tenant": _header_text(tenant)}),
    }
    return {**stated, **given}


def _with_scheme(text: str) -> str:
    return (text if re.match(r"^[a-z]+://", text, re.IGNORECASE) else f"http://{text}").rstrip("/")


def _header_text(text: str) -> str:
    """A header carries ASCII only; other names travel percent-encoded, and the server decodes them."""
    return text if re.fullmatch(r"[!-$&-~]*", text) else quote(text, safe="")
