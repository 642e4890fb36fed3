# Made from access.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""Roles that the cluster keeps, the key of the jobs' tokens, the audit log as a whole, network domains and notices."""

from __future__ import annotations

from typing import Any

from ..call import at, change, read
from ..decode import decode
from ..models.networks import Grant, NetworkDomain
from .caller import Caller

__all__ = ["AccessCalls"]


class AccessCalls:
    _caller: Caller

    def list_grants(self, tenant: str | None = None, user: str | None = None) -> list[Grant]:
        """Roles in tenants that the cluster itself has given."""
        return self._caller.send(read(at("grants"), parse=_grants, tenant=tenant, user=user))

    def add_grant(self, tenant: str, user: str, role: str, *, request_id: str | None = None) -> None:
        """``role``: tenant_admin or claiming_user."""
        body = {"tenant": tenant, "user": user, "role": role}
        self._caller.send(change("POST", at("grants"), body, request_id=request_id))

    def remove_grant(self, tenant: str, user: str, role: str, *, request_id: str | None = None) -> None:
        self._caller.send(change("DELETE", at("grants", tenant, role, user), request_id=request_id))

    def rotate_job_key(
        self, *, keep_seconds: int | None = None, request_id: str | None = None
    ) -> dict[str, Any]:
        """A new key for the tokens of jobs; those of the key before stay good for as long as they live, or for
        ``keep_seconds``. ``earlier``: until when keys before this one count."""
        path = at("admin", "job-key", "rotate")
        return self._caller.send(change("POST", path, {"keep_seconds": keep_seconds}, request_id=request_id))

    def verify_audit(self) -> dict[str, Any]:
        """``ok``, or the number of the first record that does not fit and what is wrong with it."""
        return self._caller.send(read(at("audit", "verify")))

    def list_networks(self, tenant: str | None = None) -> dict[str, Any]:
        """Network domains, and the pool of their numbers."""
        return self._caller.send(read(at("networks"), tenant=tenant))

    def get_domain(self, name: str, tenant: str | None = None) -> NetworkDomain:
        """One network domain; of the caller's tenant unless another is named."""
        return self._caller.send(read(at("networks", name), NetworkDomain, tenant=tenant))

    def set_domain_grace(
        self, name: str, seconds: int, *, tenant: str | None = None, request_id: str | None = None
    ) -> NetworkDomain:
        """How long the domain outlives its last member."""
        body = {"grace_seconds": seconds, "tenant": tenant}
        path = at("networks", name, "grace")
        return self._caller.send(change("POST", path, body, kind=NetworkDomain, request_id=request_id))

    def list_notices(self) -> list[dict[str, Any]]:
        """What the caller should know of."""
        answer: dict[str, Any] = self._caller.send(read(at("notices")))
        return list(answer.get("notices") or [])

    def resume(self, id: str, *, request_id: str | None = None) -> dict[str, Any]:
        """Queues a suspended allocation again at once."""
        return self._caller.send(change("POST", at("allocations", id, "resume"), {}, request_id=request_id))

    def checkpoint_status(self, id: str) -> dict[str, Any]:
        """The newest checkpoint, and how far it is."""
        return self._caller.send(read(at("allocations", id, "checkpoint")))

    def node_condition(self, id: str) -> dict[str, Any]:
        """What the node's agent finds: versions, devices, faults."""
        return self._caller.send(read(at("nodes", id, "condition")))


def _grants(data: dict[str, Any]) -> list[Grant]:
    return [decode(Grant, one) for one in data.get("grants") or []]
