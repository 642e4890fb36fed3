"""The cluster that a client is for. Servers refuse a call for another cluster, and the client refuses such an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .errors import LatticeConflictError, LatticeError, LatticeInvalidError

__all__ = ["checked_cluster_id", "cluster_headers", "foreign_cluster"]

HEADER = "x-lattice-cluster"


def checked_cluster_id(cluster_id: str | None) -> str | None:
    if cluster_id is None or re.fullmatch(r"[0-9a-f]{32}", cluster_id):
        return cluster_id
    detail = f'cluster_id: "{cluster_id}" is not 32 hexadecimal digits'
    raise LatticeInvalidError(detail, code="invalid_argument")


def cluster_headers(headers: Mapping[str, str], cluster_id: str | None) -> dict[str, str]:
    return {**headers, **({} if cluster_id is None else {HEADER: cluster_id})}


def foreign_cluster(expected: str | None, headers: Mapping[str, str]) -> LatticeError | None:
    """Returns the error of an answer from another cluster. The header has the identity of the sender's cluster first, then
    the empty clusters into which it was restored.
    """
    named = headers.get(HEADER, "")
    if expected is None or not named or expected in named.split(","):
        return None
    detail = f"the server belongs to cluster {named.split(',')[0]}, this client to cluster {expected}"
    return LatticeConflictError(detail, code="foreign_cluster")
