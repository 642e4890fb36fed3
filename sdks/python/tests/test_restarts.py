"""The server stops, is killed and comes back while calls and streams are under way. These tests start their own."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from cluster import Cluster

from lattice_sdk import (
    AllocationSpec,
    LatticeClient,
    LatticeConnectionError,
    LatticeRateLimitError,
    LatticeUnavailableError,
    LaunchEnd,
    RetryPolicy,
    SyncLatticeClient,
    TaskEnd,
    TaskOutput,
)
from lattice_sdk.errors import connection_error, error_from_answer
from lattice_sdk.retry import backoff, pause_before_retry

PATIENT = RetryPolicy(retries=400, longest_delay=0.5, deadline=180.0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1) as started:
        yield started


@pytest.fixture
def patient(cluster: Cluster) -> Iterator[SyncLatticeClient]:
    with SyncLatticeClient(cluster.url, user="ada", retry=PATIENT) as client:
        yield client


def test_streams_and_calls_outlast_restarts(cluster: Cluster, patient: SyncLatticeClient) -> None:
    script = "for n in $(seq 1 40); do echo line $n; sleep 0.1; done"
    submitted = patient.submit(AllocationSpec(entrypoint=script))
    states: list[str] = []
    lines: list[str] = []

    def watch() -> None:
        with SyncLatticeClient(cluster.url, user="ada", retry=PATIENT) as client:
            states.extend(str(event.state) for event in client.watch(submitted.id))

    def follow() -> None:
        with SyncLatticeClient(cluster.url, user="ada", retry=PATIENT) as client:
            lines.extend(line.message for line in client.stream_logs(submitted.id))

    threads = [threading.Thread(target=work, daemon=True) for work in (watch, follow)]
    next(event for event in patient.watch(submitted.id) if event.state == "running")
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    cluster.kill_server()
    cluster.start_server()
    time.sleep(1)
    cluster.stop_server()
    cluster.start_server()
    # The connection that was kept for the next call is dead by now.
    assert patient.submit(AllocationSpec(entrypoint="true")).id != submitted.id
    for thread in threads:
        thread.join(180)
        assert not thread.is_alive()
    assert states[-1] == "completed" and len(states) == len(set(states))
    assert lines == [f"line {n}" for n in range(1, 41)]


def test_asynchronous_streams_outlast_a_restart(cluster: Cluster) -> None:
    async def body() -> None:
        async with LatticeClient(cluster.url, user="ada", retry=PATIENT) as client:
            script = "for n in $(seq 1 20); do echo line $n; sleep 0.1; done"
            submitted = await client.submit(AllocationSpec(entrypoint=script))

            async def states() -> list[str]:
                return [str(event.state) async for event in client.watch(submitted.id)]

            async def lines() -> list[str]:
                return [line.message async for line in client.stream_logs(submitted.id)]

            streams = asyncio.gather(states(), lines())
            await asyncio.sleep(0.7)
            await asyncio.to_thread(cluster.kill_server)
            await asyncio.to_thread(cluster.start_server)
            seen, written = await asyncio.wait_for(streams, 180)
            assert seen[-1] == "completed" and len(seen) == len(set(seen))
            assert written == [f"line {n}" for n in range(1, 21)]

    asyncio.run(body())


def test_a_launch_resumes_after_a_server_restart(cluster: Cluster, patient: SyncLatticeClient) -> None:
    allocation = patient.submit(AllocationSpec(entrypoint="sleep 3000"))
    next(event for event in patient.watch(allocation.id) if event.state == "running")
    mark = cluster.dir / "go-on"
    line = f"echo before $LATTICE_RANK; until [ -e {mark} ]; do sleep 0.1; done; echo after $LATTICE_RANK"
    shown: list[str] = []
    ends: list[int] = []
    code = -1
    # Servers wait a minute for a caller; this machine may take longer than that to start one.
    for event in patient.launch(allocation.id, ["sh", "-c", line], tasks=2, tasks_per_node=2, patience=180):
        if isinstance(event, TaskOutput):
            shown.extend(event.data.decode().split("\n")[:-1])
            if shown in (["before 0", "before 1"], ["before 1", "before 0"]) and not mark.exists():
                cluster.kill_server()
                cluster.start_server()
                mark.touch()
        if isinstance(event, TaskEnd):
            ends.append(event.rank)
        if isinstance(event, LaunchEnd):
            code = event.exit_code
    patient.cancel(allocation.id)
    assert sorted(shown) == ["after 0", "after 1", "before 0", "before 1"]
    assert sorted(ends) == [0, 1] and code == 0


def test_a_launch_resumes_at_another_server() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    received: list[dict[str, Any]] = []
    layout = [{"node": "n1", "tasks": 1}, {"node": "n2", "first_rank": 1, "tasks": 1}]
    started = {"started": {"launch_id": "7.1.a.0", "layout": layout, "call": 2, "servers": ["http://other:8080"]}}

    def output(rank: int, number: int, text: bytes) -> dict[str, Any]:
        data = base64.b64encode(text).decode()
        return {"output": {"rank": rank, "data": data}, "node_index": rank, "number": number}

    ended = {"task_end": {"rank": 0, "node": "n1"}, "number": 6}

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.read())
        if request.url.path.endswith("/launches/7.1.a.0"):
            received.append(body)
            return httpx.Response(200, json={})
        asked.append((request.url.host, body))
        if len(asked) == 1:
            lines = [started, output(0, 5, b"one"), output(1, 3, b"two"), ended]
        elif len(asked) == 2:
            raise httpx.ConnectError("refused")
        else:
            lines = [started, ended, output(1, 4, b"three"), {"end": {"exit_code": 9}}]
        return httpx.Response(200, text="".join(json.dumps(line) + "\n" for line in lines))

    transport = httpx.MockTransport(answer)
    with SyncLatticeClient("one", transport=transport, retry=RetryPolicy(first_delay=0.0)) as client:
        events = list(client.launch("7", ["app"]))
    assert [event.data for event in events if isinstance(event, TaskOutput)] == [b"one", b"two", b"three"]
    assert [type(event).__name__ for event in events].count("LaunchStarted") == 1
    assert [type(event).__name__ for event in events].count("TaskEnd") == 1
    assert isinstance(events[-1], LaunchEnd) and events[-1].exit_code == 9
    assert asked[0] == ("one", {"command": ["app"], "resumable": True})
    resume = {"launch_id": "7.1.a.0", "positions": [6, 3], "call": 2}
    assert asked[1:] == [("one", {"resumable": True, "resume": resume}), ("other", {"resumable": True, "resume": resume})]
    assert received == [{"finished": True}]


def test_an_event_stream_resumes_behind_the_last_event() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params.get("cursor", ""))
        lines = ["1:0", "2:0"] if len(asked) == 1 else ["3:0"]
        text = "".join(f'data: {{"cursor": "{cursor}"}}\n\n' for cursor in lines)
        last = 'event: problem\ndata: {"code": "not_leader", "retryable": true}\n\n' if len(asked) == 1 else ""
        return httpx.Response(200, text=text + last)

    quick = RetryPolicy(first_delay=0.0)
    with SyncLatticeClient("one", transport=httpx.MockTransport(answer), retry=quick) as client:
        assert [event.cursor for event in client.stream_allocation_events("7")] == ["1:0", "2:0", "3:0"]
    assert asked == ["", "2:0"]


def test_a_launch_without_a_response_is_not_repeated() -> None:
    tries: list[str] = []

    def broken(request: httpx.Request) -> httpx.Response:
        tries.append(request.url.path)
        raise httpx.ReadError("lost")

    with SyncLatticeClient("127.0.0.1", 9, transport=httpx.MockTransport(broken)) as client:
        with pytest.raises(LatticeConnectionError):
            list(client.launch("7", ["app"]))
    assert tries == ["/api/v1/allocations/7/launches"]


def test_a_submission_made_while_the_server_is_away_is_made_once(cluster: Cluster, patient: SyncLatticeClient) -> None:
    before = len(patient.list_allocations())
    cluster.kill_server()
    ids: list[str] = []
    thread = threading.Thread(target=lambda: ids.append(patient.submit(AllocationSpec(entrypoint="true")).id))
    thread.start()
    time.sleep(0.3)
    cluster.start_server()
    thread.join(180)
    assert len(ids) == 1 and len(patient.list_allocations()) == before + 1


def test_an_answer_that_is_lost_is_asked_for_again_and_changes_nothing_twice(cluster: Cluster) -> None:
    wire = httpx.HTTPTransport()
    sent: list[bytes] = []

    class Lossy(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = wire.handle_request(request)
            if request.method == "POST":
                sent.append(request.read())
                if len(sent) == 1:
                    response.close()
                    raise httpx.ReadError("lost")
            return response

    with SyncLatticeClient(cluster.url, user="ada", transport=Lossy()) as client:
        before = len(client.list_allocations())
        client.submit(AllocationSpec(entrypoint="true"))
        assert len(client.list_allocations()) == before + 1
    assert len(sent) == 2 and sent[0] == sent[1]


CHANGES: dict[str, Callable[[SyncLatticeClient, str | None], object]] = {
    "POST /api/v1/allocations/7/checkpoint": lambda client, once: client.checkpoint("7", request_id=once),
    "POST /api/v1/admin/job-key/rotate": lambda client, once: client.rotate_job_key(request_id=once),
    "DELETE /api/v1/sessions/s": lambda client, once: client.end_session("s", exit_code=1, request_id=once),
    "PUT /api/v1/admin/signals": lambda client, once: client.set_signals({}, request_id=once),
    "POST /api/v1/raft/members": lambda client, once: client.add_member("server-4", "h:9000", request_id=once),
    "DELETE /api/v1/raft/members/server-4": lambda client, once: client.remove_member("server-4", request_id=once),
    "POST /api/v1/raft/transfer-leader": lambda client, once: client.transfer_leader(request_id=once),
    "POST /api/v1/admin/backup": lambda client, once: client.create_backup(request_id=once),
    "POST /api/v1/cache/warm": lambda client, once: client.warm_cache("i", request_id=once),
    "POST /api/v1/cache/evict": lambda client, once: client.evict_image("i", request_id=once),
    "DELETE /api/v1/tenants/t": lambda client, once: client.delete_tenant("t", request_id=once),
    "DELETE /api/v1/vclusters/v": lambda client, once: client.delete_vcluster("v", request_id=once),
    "DELETE /api/v1/grants/t/tenant_admin/ada": lambda client, once: client.remove_grant(
        "t", "ada", "tenant_admin", request_id=once
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_repeated_with_the_request_id_of_its_first_try(name: str) -> None:
    seen: list[str] = []

    def lossy(request: httpx.Request) -> httpx.Response:
        assert f"{request.method} {request.url.path}" == name
        body = request.read()
        assert (body == b"") == (request.method == "DELETE")
        seen.append(json.loads(body)["request_id"] if body else request.url.params["request_id"])
        if len(seen) == 1:
            raise httpx.ReadError("lost")
        return httpx.Response(200, json={})

    with SyncLatticeClient("127.0.0.1", 9, transport=httpx.MockTransport(lossy)) as client:
        CHANGES[name](client, None)
        CHANGES[name](client, "mine")
    assert len(seen) == 3 and seen[0] == seen[1] and len(seen[0]) == 36 and seen[2] == "mine"


def test_calls_without_a_request_id_are_not_repeated() -> None:
    tries: list[str] = []

    def broken(request: httpx.Request) -> httpx.Response:
        tries.append(request.url.path)
        raise httpx.ReadError("lost")

    with SyncLatticeClient("127.0.0.1", 9, transport=httpx.MockTransport(broken)) as client:
        with pytest.raises(LatticeConnectionError) as caught:
            client.restore_backup("anywhere")
    assert tries == ["/api/v1/admin/restore"] and caught.value.sent


def test_retry_after_is_honoured() -> None:
    answers = [
        httpx.Response(429, json={"code": "rate_limited", "retryable": True, "detail": "slowly"}),
        httpx.Response(503, json={"code": "not_leader", "retryable": True, "detail": "soon"}),
        httpx.Response(200, json={"status": "ok"}),
    ]
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    with SyncLatticeClient("127.0.0.1", 9, transport=transport) as client:
        assert client.health().status == "ok"
    assert answers == []


@pytest.mark.parametrize("url", ["http://one:1,http://two:1", "http://two:1,http://one:1"])
def test_the_refusal_of_one_server_is_reported_not_that_another_is_away(url: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "two":
            raise httpx.ConnectError("Connection refused")
        return httpx.Response(503, json={"code": "log_unavailable", "retryable": True, "detail": "no leader"})

    retry = RetryPolicy(retries=3, first_delay=0.001, longest_delay=0.002)
    with SyncLatticeClient(url, retry=retry, transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(LatticeUnavailableError) as caught:
            client.health()
    assert caught.value.code == "log_unavailable"


def test_pauses_grow_with_jitter_up_to_a_limit_and_heed_the_server() -> None:
    policy = RetryPolicy(retries=3, first_delay=1.0, longest_delay=4.0, deadline=20.0)
    for tries, whole in enumerate([1.0, 2.0, 4.0, 4.0]):
        pauses = {backoff(policy, tries) for _ in range(50)}
        assert len(pauses) > 1 and all(whole / 2 <= pause <= whole for pause in pauses)
    limited = error_from_answer(429, '{"code": "rate_limited", "retryable": true}', {"retry-after": "9"})
    assert isinstance(limited, LatticeRateLimitError)
    assert pause_before_retry(policy, limited, tries=0, elapsed=0, repeatable=False) == 9.0
    assert pause_before_retry(policy, limited, tries=0, elapsed=15, repeatable=False) is None
    assert pause_before_retry(policy, limited, tries=3, elapsed=0, repeatable=True) is None
    unsent, broken = connection_error("x", sent=False), connection_error("x", sent=True)
    assert pause_before_retry(policy, unsent, tries=0, elapsed=0, repeatable=False) is not None
    assert pause_before_retry(policy, broken, tries=0, elapsed=0, repeatable=False) is None
    full = error_from_answer(503, '{"code": "backup_failed", "retryable": false}')
    assert isinstance(full, LatticeUnavailableError)
    assert pause_before_retry(policy, full, tries=0, elapsed=0, repeatable=True) is None
