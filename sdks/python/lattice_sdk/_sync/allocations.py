# Made from allocations.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""Submitting, looking at, changing and ending allocations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..call import Call, at, change, read
from ..decode import decode
from ..models.allocations import Allocation, Cancelled, Submitted
from ..models.explain import Explanation, Plan, Timeline
from ..models.submission import Submission, body_of
from .caller import Caller
from .pages import each_item, listed

__all__ = ["AllocationCalls"]

States = str | Sequence[str] | None


class AllocationCalls:
    _caller: Caller

    def submit(self, submission: Submission, *, request_id: str | None = None) -> Submitted:
        """A request id makes it safe to repeat for 24 hours; one is made when none is given."""
        return self._caller.send(
            change("POST", at("allocations"), body_of(submission), kind=Submitted, request_id=request_id)
        )

    def status(self, id: str) -> Allocation:
        return self._caller.send(read(at("allocations", id), Allocation))

    def list_allocations(
        self,
        *,
        state: States = None,
        user: str | None = None,
        tenant: str | None = None,
        vcluster: str | None = None,
        node: str | None = None,
        name: str | None = None,
        project: str | None = None,
        tag: Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        reason_code: Sequence[str] | None = None,
        expand: bool | None = None,
        group_id: str | None = None,
        limit: int | None = None,
    ) -> list[Allocation]:
        """All of them, or the first ``limit``."""
        filters = _filters(locals())
        return listed(self._caller, at("allocations"), "allocations", Allocation, filters, limit)

    def iter_allocations(
        self,
        *,
        state: States = None,
        user: str | None = None,
        tenant: str | None = None,
        vcluster: str | None = None,
        node: str | None = None,
        name: str | None = None,
        project: str | None = None,
        tag: Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        reason_code: Sequence[str] | None = None,
        expand: bool | None = None,
        group_id: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Allocation]:
        """As ``list_allocations``, fetching pages only as far as they are looked at."""
        filters = _filters(locals())
        return each_item(self._caller, at("allocations"), "allocations", Allocation, filters, limit)

    def cancel(self, id: str, *, reason: str | None = None, request_id: str | None = None) -> Cancelled:
        path = at("allocations", id, "cancel")
        return self._caller.send(change("POST", path, {"reason": reason}, kind=Cancelled, request_id=request_id))

    def update(
        self,
        id: str,
        *,
        walltime: str | None = None,
        walltime_seconds: int | None = None,
        preemption_class: int | None = None,
        name: str | None = None,
        tags: Mapping[str, str] | None = None,
        set_tags: Mapping[str, str] | None = None,
        remove_tags: Sequence[str] | None = None,
        telemetry_mode: str | None = None,
        telemetry_seconds: int | None = None,
        request_id: str | None = None,
    ) -> Allocation:
        """``walltime``: as in a submission, ``"4h"``. ``telemetry_mode``: prod, debug or audit, for good or for ``telemetry_seconds``. ``tags`` names all of them;
        ``set_tags`` and ``remove_tags`` change some."""
        changes = {
            "walltime": walltime,
            "walltime_seconds": walltime_seconds,
            "preemption_class": preemption_class,
            "name": name,
            "tags": tags,
            "set_tags": set_tags,
            "remove_tags": remove_tags,
            "telemetry_mode": telemetry_mode,
            "telemetry_seconds": telemetry_seconds,
        }
        return self._caller.send(_update(id, changes, request_id))

    def hold(self, id: str, *, request_id: str | None = None) -> Allocation:
        """Keeps what waits out of the queue: an allocation, a task group, or elements such as ``12_3``."""
        return self._caller.send(_update(id, {"hold": True}, request_id))

    def release(self, id: str, *, request_id: str | None = None) -> Allocation:
        """Lets what is held wait its turn again."""
        return self._caller.send(_update(id, {"hold": False}, request_id))

    def checkpoint(self, id: str, *, request_id: str | None = None) -> dict[str, Any]:
        """Asks for a checkpoint now; ``LatticeNotAvailableError`` where the server takes none."""
        path = at("allocations", id, "checkpoint")
        return self._caller.send(change("POST", path, {}, request_id=request_id))

    def explain(self, id: str) -> Explanation:
        """Why it waits, or why it started where and when it did."""
        return self._caller.send(read(at("allocations", id, "explain"), Explanation))

    def plan(self, submission: Submission) -> Plan:
        """What submitting this would do now; nothing is submitted."""
        return self._caller.send(
            change(
                "POST", at("allocations:plan"), body_of(submission), kind=Plan, request_id=False, repeatable=True
            )
        )

    def timeline(self, id: str) -> Timeline:
        """What has been decided about it so far."""
        return self._caller.send(read(at("allocations", id, "timeline"), Timeline))


def _update(id: str, changes: Mapping[str, Any], request_id: str | None) -> Call[Allocation]:
    return change(
        "PATCH",
        at("allocations", id),
        changes,
        parse=lambda data: decode(Allocation, data["allocation"]),
        request_id=request_id,
    )


def _filters(given: Mapping[str, Any]) -> dict[str, Any]:
    filters = {name: value for name, value in given.items() if name not in ("self", "limit")}
    state = filters["state"]
    states = [state] if isinstance(state, str) else list(state or [])
    return {**filters, "state": [one.lower() for one in states]}
