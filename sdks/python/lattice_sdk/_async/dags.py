"""Workflows: several allocations, and what must end before what begins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..call import Call, at, change, read
from ..decode import decode
from ..models.allocations import Cancelled
from ..models.dags import Dag, DagGraph, SubmittedDag
from .caller import Caller
from .pages import listed

__all__ = ["DagCalls"]


class DagCalls:
    _caller: Caller

    async def submit_dag(
        self, dag: str | os.PathLike[str] | Mapping[str, Any], *, request_id: str | None = None
    ) -> SubmittedDag:
        """A mapping, or the path of a YAML or JSON file. YAML is read by the server, so a file of it carries a request
        id only where one is written in it.
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

    async def get_dag(self, id: str) -> Dag:
        return await self._caller.send(read(at("dags", id), Dag))

    async def dag_graph(self, id: str) -> DagGraph:
        return await self._caller.send(read(at("dags", id, "graph"), DagGraph))

    async def list_dags(
        self,
        *,
        state: str | Sequence[str] | None = None,
        user: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Dag]:
        states = [state] if isinstance(state, str) else list(state or [])
        filters = {"state": [one.lower() for one in states], "user": user, "tenant": tenant}
        return await listed(self._caller, at("dags"), "dags", Dag, filters, limit)

    async def cancel_dag(self, id: str, *, reason: str | None = None, request_id: str | None = None) -> Cancelled:
        path = at("dags", id, "cancel")
        return await self._caller.send(change("POST", path, {"reason": reason}, kind=Cancelled, request_id=request_id))


def _yaml(text: str) -> Call[SubmittedDag]:
    return Call(
        method="POST",
        path=at("dags"),
        body=text.encode(),
        content_type="application/yaml",
        parse=lambda data: decode(SubmittedDag, data),
    )
