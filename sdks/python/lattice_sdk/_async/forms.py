"""Calls with arguments beyond the contract: submissions, workflows, holds, limits, settings and health."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..call import Call, at, change, part, read
from ..decode import decode
from ..models.generated import Allocation, CreatedSession, Plan, Submitted, SubmittedDag, Tenant
from ..models.health import Health
from ..models.submission import Submission, body_of
from .caller import Caller

__all__ = ["FormCalls"]


class FormCalls:
    _caller: Caller

    async def submit(self, submission: Submission, *, request_id: str | None = None) -> Submitted:
        """Submits one allocation. A request id makes the call idempotent for 24 hours. Default: a new id."""
        return await self._caller.send(
            change("POST", at("allocations"), body_of(submission), kind=Submitted, request_id=request_id)
        )

    async def plan(self, submission: Submission) -> Plan:
        """Returns what submitting this would do now; nothing is submitted."""
        body = body_of(submission)
        return await self._caller.send(
            change("POST", at("allocations:plan"), body, kind=Plan, request_id=False, repeatable=True)
        )

    async def hold(self, id: str, *, request_id: str | None = None) -> Allocation:
        """Holds pending work: an allocation, a task group, or elements such as ``12_3``."""
        return await self._caller.send(_set_hold(id, True, request_id))

    async def release(self, id: str, *, request_id: str | None = None) -> Allocation:
        """Releases held work."""
        return await self._caller.send(_set_hold(id, False, request_id))

    async def create_session(
        self,
        submission: Submission | None = None,
        *,
        allocation_id: str | None = None,
        request_id: str | None = None,
    ) -> CreatedSession:
        """Submits an interactive allocation, or opens a session on a running one."""
        body = {"allocation_id": allocation_id} if allocation_id else body_of(submission or {})
        return await self._caller.send(
            change("POST", at("sessions"), body, kind=CreatedSession, request_id=request_id)
        )

    async def submit_dag(
        self, dag: str | os.PathLike[str] | Mapping[str, Any], *, request_id: str | None = None
    ) -> SubmittedDag:
        """Submits a workflow: a mapping, or the path of a YAML or JSON file. The server reads YAML, so a YAML file has a
        request id only if one is written in it.
        """
        if isinstance(dag, Mapping):
            body: Mapping[str, Any] = dag
        else:
            path = Path(dag)
            text = path.read_text("utf-8")
            if path.suffix != ".json":
                return await self._caller.send(_yaml(text))
            body = json.loads(text)
        return await self._caller.send(change("POST", at("dags"), body, kind=SubmittedDag, request_id=request_id))

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
        """Changes a tenant. ``changes`` may name limits directly: ``{"max_nodes": 250}``. ``unset`` removes limits."""
        body = {
            "description": description,
            "quota": quota,
            "max_preemption_class": max_preemption_class,
            "unset": unset,
            **(changes or {}),
        }
        return await self._caller.send(
            change("PATCH", at("tenants", id), body, parse=part("tenant", Tenant), request_id=request_id)
        )

    async def get_config(self, key: str | None = None) -> dict[str, Any]:
        """Returns settings in force by name: one, a section, or all."""
        answer: dict[str, Any] = await self._caller.send(read(at("admin", "config"), key=key))
        return {one["key"]: json.loads(one["value"]) for one in answer.get("settings", [])}

    async def set_config(self, key: str, value: Any, *, request_id: str | None = None) -> None:
        """Changes a setting on all servers, durably."""
        body = {"value": json.dumps(value)}
        await self._caller.send(change("PUT", at("admin", "config", key), body, request_id=request_id))

    async def reset_config(self, key: str, *, request_id: str | None = None) -> None:
        """Returns a setting to the value of each server's configuration file."""
        await self._caller.send(change("PUT", at("admin", "config", key), {"reset": True}, request_id=request_id))

    async def health(self) -> Health:
        return await self._caller.send(read("/healthz", Health))

    async def ready(self) -> bool:
        """Returns True when the server is serving and caught up; raises the server's problem otherwise."""
        return await self._caller.send(read("/readyz", parse=lambda data: data.get("ready") is True))

    async def auth_discovery(self) -> dict[str, Any]:
        """Returns how to log in."""
        return await self._caller.send(read(at("auth", "discovery")))


def _set_hold(id: str, hold: bool, request_id: str | None) -> Call[Allocation]:
    parse = part("allocation", Allocation)
    return change("PATCH", at("allocations", id), {"hold": hold}, parse=parse, request_id=request_id)


def _yaml(text: str) -> Call[SubmittedDag]:
    return Call(
        method="POST",
        path=at("dags"),
        body=text.encode(),
        content_type="application/yaml",
        parse=lambda data: decode(SubmittedDag, data),
    )
