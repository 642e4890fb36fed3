"""Allocations from submission to end, with both clients."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from lattice_sdk import (
    AllocationSpec,
    LatticeClient,
    LatticeConflictError,
    LatticeInvalidError,
    LatticeNotFoundError,
    SyncLatticeClient,
)


def test_a_job_from_submission_to_its_output(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="echo out; echo err >&2", name="hello", nodes=1, walltime="5m"))
    ended = client.wait(submitted.id)
    assert (ended.state, ended.exit_code, ended.user, ended.name) == ("Completed", 0, "ada", "hello")
    assert ended.submitted_at is not None and ended.ended_at is not None and ended.submitted_at <= ended.ended_at
    assert [line.message for line in client.logs(submitted.id, stream="stdout")] == ["out"]
    assert {(line.stream, line.message) for line in client.logs(submitted.id)} == {("stdout", "out"), ("stderr", "err")}


def test_the_same_asynchronously(run_async: Any) -> None:
    async def body(client: LatticeClient) -> None:
        submitted = await client.submit(AllocationSpec(command=["/bin/echo", "out"], tags={"run": "7"}))
        ended = await client.wait(submitted.id)
        assert ended.state == "completed" and ended.spec["tags"] == {"run": "7"}
        assert [line.message async for line in client.stream_logs(submitted.id)] == ["out"]

    run_async(body)


def test_the_full_form_is_sent_as_it_is(client: SyncLatticeClient) -> None:
    spec = {"entrypoint": "exit 3", "resources": {"nodes": 1}, "lifecycle": {"type": "bounded", "walltime": "5m"}}
    ended = client.wait(client.submit({"allocation": spec}).id)
    assert (ended.state, ended.exit_code) == ("failed", 3)


def test_a_refused_submission_names_the_fields_and_changes_nothing(client: SyncLatticeClient) -> None:
    before = len(client.list_allocations())
    with pytest.raises(LatticeInvalidError) as caught:
        client.submit({"entrypoint": "true", "nodez": 3, "walltime": "7x"})
    assert caught.value.status_code == 400
    assert [one.field for one in caught.value.fields] == ["nodez", "walltime"]
    assert 'Did you mean "nodes"?' in caught.value.fields[0].hint
    assert len(client.list_allocations()) == before


def test_a_waiting_allocation_is_explained_changed_and_cancelled(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="true", nodes=99, walltime="1h"))
    assert client.status(submitted.id).state == "pending"
    explained = client.explain(submitted.id)
    assert (explained.id, explained.state) == (submitted.id, "pending") and explained.summary != ""
    assert client.update(submitted.id, name="later").name == "later"
    tagged = client.update(submitted.id, set_tags={"a": "1", "b": "2"})
    assert tagged.spec["tags"] == {"a": "1", "b": "2"}
    assert client.update(submitted.id, set_tags={"c": "3"}, remove_tags=["a"]).spec["tags"] == {"b": "2", "c": "3"}
    held = client.hold(submitted.id)
    assert held.hold is not None and held.hold.kind == "user"
    assert client.release(submitted.id).hold is None
    assert client.timeline(submitted.id).entries[0].kind == "submitted"
    assert client.cancel(submitted.id, reason="not needed").state == "cancelled"
    with pytest.raises(LatticeConflictError):
        client.update(submitted.id, name="too late")


def test_a_plan_submits_nothing(client: SyncLatticeClient) -> None:
    before = len(client.list_allocations())
    plan = client.plan(AllocationSpec(entrypoint="true", nodes=99))
    assert plan.starts_now is False and plan.causes[0].text != ""
    assert len(client.list_allocations()) == before


def test_the_same_request_id_is_one_submission(client: SyncLatticeClient) -> None:
    spec = AllocationSpec(entrypoint="true", nodes=99)
    once = str(uuid.uuid4())
    first = client.submit(spec, request_id=once)
    assert client.submit(spec, request_id=once).id == first.id
    with pytest.raises(LatticeConflictError) as caught:
        client.submit(AllocationSpec(entrypoint="false"), request_id=once)
    assert caught.value.code == "request_conflict"
    client.cancel(first.id)


def test_lists_are_filtered_and_walked_page_by_page(client: SyncLatticeClient) -> None:
    name = f"paged-{uuid.uuid4()}"
    ids = [client.submit(AllocationSpec(entrypoint="true", nodes=99, name=name)).id for _ in range(3)]
    assert {one.id for one in client.list_allocations(name=name, state="Pending")} == set(ids)
    assert len(client.list_allocations(name=name, limit=2)) == 2
    assert {one.id for one in client.iter_allocations(name=name)} == set(ids)
    for id in ids:
        client.cancel(id)


def test_a_task_group_counts_its_tasks(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="true", task_group={"start": 0, "end": 2}))
    ended = client.wait(submitted.id)
    assert ended.group is not None and (ended.group.size, ended.group.completed) == (3, 3)


def test_an_unknown_allocation(client: SyncLatticeClient) -> None:
    with pytest.raises(LatticeNotFoundError) as caught:
        client.status("nonexistent-id")
    assert (caught.value.status_code, caught.value.code) == (404, "unknown_allocation")
