"""What work runs on and for whom: nodes, tenants, vClusters, usage and images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..call import Call, at, change, read
from ..decode import decode
from ..models.images import Image, NodeCache
from ..models.nodes import Node
from ..models.services import Service, ServiceSummary
from ..models.tenants import Tenant, VCluster
from ..models.usage import Usage
from .caller import Caller
from .pages import listed

__all__ = ["ClusterCalls"]

WARM_WITHIN = 310.0
"""An image of many gigabytes may have to come first."""


class ClusterCalls:
    _caller: Caller

    async def list_nodes(
        self,
        *,
        state: str | Sequence[str] | None = None,
        vcluster: str | None = None,
        tenant: str | None = None,
        group: str | None = None,
        limit: int | None = None,
    ) -> list[Node]:
        states = [state] if isinstance(state, str) else list(state or [])
        filters = {
            "state": [one.lower() for one in states],
            "vcluster": vcluster,
            "tenant": tenant,
            "group": group,
        }
        return await listed(self._caller, at("nodes"), "nodes", Node, filters, limit)

    async def get_node(self, id: str) -> Node:
        return await self._caller.send(read(at("nodes", id), Node))

    async def drain_node(
        self, id: str, *, reason: str | None = None, urgent: bool = False, request_id: str | None = None
    ) -> Node:
        """Nothing new starts there; what runs there runs to its end, or, with ``urgent``, is checkpointed and queued
        again where it can be.
        """
        body = {"reason": reason, "urgent": urgent or None}
        return await self._caller.send(_node_change(id, "drain", body, request_id))

    async def report_health(
        self, id: str, status: str, *, component: str | None = None, message: str | None = None, request_id: str | None = None
    ) -> Node:
        """``status``: critical takes the node down at once, warning is an event alone, ok brings it back."""
        body = {"status": status, "component": component, "message": message}
        return await self._caller.send(_node_change(id, "health", body, request_id))

    async def undrain_node(self, id: str, *, request_id: str | None = None) -> Node:
        return await self._caller.send(_node_change(id, "undrain", {}, request_id))

    async def disable_node(self, id: str, *, reason: str | None = None, request_id: str | None = None) -> Node:
        return await self._caller.send(_node_change(id, "disable", {"reason": reason}, request_id))

    async def enable_node(self, id: str, *, request_id: str | None = None) -> Node:
        return await self._caller.send(_node_change(id, "enable", {}, request_id))

    async def assign_node(self, id: str, vcluster: str | None, *, request_id: str | None = None) -> Node:
        """At which vCluster it is at home from now on; None: it serves all of them."""
        return await self._caller.send(_node_change(id, "assign", {"vcluster": vcluster}, request_id))

    async def list_tenants(self) -> list[Tenant]:
        return await listed(self._caller, at("tenants"), "tenants", Tenant, {})

    async def get_tenant(self, id: str) -> Tenant:
        return await self._caller.send(read(at("tenants", id), Tenant))

    async def create_tenant(
        self,
        id: str,
        *,
        description: str | None = None,
        quota: Mapping[str, float] | None = None,
        max_preemption_class: int | None = None,
        request_id: str | None = None,
    ) -> Tenant:
        body = {"id": id, "description": description, "quota": quota, "max_preemption_class": max_preemption_class}
        return await self._caller.send(
            change("POST", at("tenants"), body, parse=_tenant, request_id=request_id)
        )

    async def update_tenant(
        self,
        id: str,
        changes: Mapping[str, Any] | None = None,
        *,
        description: str | None = None,
        quota: Mapping[str, float] | None = None,
        max_preemption_class: int | None = None,
        unset: Sequence[str] | None = None,
        request_id: str | None = None,
    ) -> Tenant:
        """``changes`` names what changes, limits among them: ``{"max_nodes": 250}``. ``unset`` names limits that are to
        be no more."""
        body = {
            "description": description,
            "quota": quota,
            "max_preemption_class": max_preemption_class,
            "unset": unset,
            **(changes or {}),
        }
        return await self._caller.send(
            change("PATCH", at("tenants", id), body, parse=_tenant, request_id=request_id)
        )

    async def delete_tenant(self, id: str, *, request_id: str | None = None) -> None:
        """Refused while it has work or vClusters."""
        await self._caller.send(change("DELETE", at("tenants", id), request_id=request_id))

    async def list_vclusters(self) -> list[VCluster]:
        return await listed(self._caller, at("vclusters"), "vclusters", VCluster, {})

    async def get_vcluster(self, id: str) -> VCluster:
        return await self._caller.send(read(at("vclusters", id), VCluster))

    async def create_vcluster(self, id: str, *, request_id: str | None = None, **settings: Any) -> VCluster:
        """``settings`` as the API names them: tenant, scheduler, weights, backfill_depth and so on."""
        return await self._caller.send(
            change(
                "POST",
                at("vclusters"),
                {"id": id, **settings},
                parse=_vcluster,
                request_id=request_id,
            )
        )

    async def update_vcluster(self, id: str, *, request_id: str | None = None, **settings: Any) -> VCluster:
        return await self._caller.send(
            change(
                "PATCH",
                at("vclusters", id),
                settings,
                parse=_vcluster,
                request_id=request_id,
            )
        )

    async def delete_vcluster(self, id: str, *, request_id: str | None = None) -> None:
        """Refused while it has work or home nodes, and for the default."""
        await self._caller.send(change("DELETE", at("vclusters", id), request_id=request_id))

    async def vcluster_queue(self, id: str) -> dict[str, Any]:
        """What waits there, in the order in which the scheduler looks at it."""
        return await self._caller.send(read(at("vclusters", id, "queue")))

    async def usage(
        self,
        *,
        user: str | None = None,
        tenant: str | None = None,
        days: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Usage:
        """A user's; the caller's own when none is named."""
        return await self._caller.send(
            read(at("usage"), Usage, user=user, tenant=tenant, days=days, since=since, until=until)
        )

    async def tenant_usage(
        self,
        id: str,
        *,
        user: str | None = None,
        days: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Usage:
        path = at("tenants", id, "usage")
        return await self._caller.send(read(path, Usage, user=user, days=days, since=since, until=until))

    async def accounting(self, **filters: Any) -> dict[str, Any]:
        """What finished allocations have used: ``tenant``, ``user``, ``since``, ``until``, ``state`` and so on."""
        return await self._caller.send(read(at("accounting"), **filters))

    async def list_services(self, *, tenant: str | None = None) -> list[ServiceSummary]:
        """What running allocations expose."""
        return await self._caller.send(
            read(
                at("services"),
                parse=lambda data: [decode(ServiceSummary, one) for one in data.get("services") or []],
                tenant=tenant,
            )
        )

    async def get_service(self, name: str, *, tenant: str | None = None) -> Service:
        return await self._caller.send(read(at("services", name), Service, tenant=tenant))

    async def list_images(self, *, filter: str | None = None, node: str | None = None) -> list[Image]:
        """What the registry has, as a node sees it."""
        return await self._caller.send(
            read(
                at("images"),
                parse=lambda data: [decode(Image, one) for one in data.get("images") or []],
                filter=filter,
                node=node,
            )
        )

    async def inspect_image(self, image: str, *, node: str | None = None) -> Image:
        return await self._caller.send(read(at("images", "inspect"), Image, image=image, node=node))

    async def cache(self, *, nodes: Sequence[str] | None = None, group: str | None = None) -> list[NodeCache]:
        """What the nodes keep; all connected ones when none are named."""
        return await self._caller.send(read(at("cache"), parse=_caches, nodes=nodes, group=group))

    async def warm_cache(
        self,
        image: str,
        *,
        nodes: Sequence[str] | None = None,
        group: str | None = None,
        sticky: bool | None = None,
        request_id: str | None = None,
    ) -> list[NodeCache]:
        """Answers when each node has the image, or cannot have it."""
        body = {"image": image, "nodes": nodes, "group": group, "sticky": sticky}
        path = at("cache", "warm")
        return await self._caller.send(
            change("POST", path, body, parse=_caches, request_id=request_id, timeout=WARM_WITHIN)
        )

    async def evict_image(
        self,
        image: str,
        *,
        nodes: Sequence[str] | None = None,
        group: str | None = None,
        request_id: str | None = None,
    ) -> list[NodeCache]:
        body = {"image": image, "nodes": nodes, "group": group}
        return await self._caller.send(
            change("POST", at("cache", "evict"), body, parse=_caches, request_id=request_id)
        )


def _node_change(id: str, action: str, body: dict[str, Any], request_id: str | None) -> Call[Node]:
    path = at("nodes", id, action)
    return change("POST", path, body, parse=lambda data: decode(Node, data["node"]), request_id=request_id)


def _tenant(data: dict[str, Any]) -> Tenant:
    return decode(Tenant, data["tenant"])


def _vcluster(data: dict[str, Any]) -> VCluster:
    return decode(VCluster, data["vcluster"])


def _caches(data: dict[str, Any]) -> list[NodeCache]:
    return [decode(NodeCache, one) for one in data.get("nodes") or []]
