"""Nodes, tenants, vClusters, workflows, sessions, usage, images and the control plane, with real answers."""

from __future__ import annotations

import inspect
import json
import re
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from lattice_sdk import (
    AllocationSpec,
    LatticeClient,
    LatticeConflictError,
    LatticeError,
    LatticeNotAvailableError,
    LatticeNotFoundError,
    State,
    SyncLatticeClient,
)
from lattice_sdk.call import read


def name(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


def reaches(client: SyncLatticeClient, node: str, state: str) -> None:
    until = time.monotonic() + 180
    while client.get_node(node).state != state:
        assert time.monotonic() < until, f"{node} does not become {state}"
        time.sleep(0.1)


def test_a_node_is_drained_and_undrained(client: SyncLatticeClient) -> None:
    node = client.list_nodes(state="Ready")[-1]
    assert node.capabilities.cpu_cores > 0 and node.last_heartbeat is not None
    assert client.drain_node(node.id, reason="tidying").state in ("draining", "drained")
    assert client.get_node(node.id).reason == "tidying"
    reaches(client, node.id, "drained")
    assert client.undrain_node(node.id).state == "ready"
    assert client.drain_node(node.id, urgent=True).state in ("draining", "drained")
    reaches(client, node.id, "drained")
    assert client.undrain_node(node.id).state == "ready"
    assert client.report_health(node.id, "warning", component="psu", message="one of two").state == "ready"
    assert client.report_health(node.id, "critical", component="gpu3").state == "down"
    client.report_health(node.id, "ok", component="gpu3")
    reaches(client, node.id, "ready")
    assert client.disable_node(node.id, reason="broken").state == "down"
    client.enable_node(node.id)
    reaches(client, node.id, "ready")
    with pytest.raises(LatticeNotFoundError):
        client.get_node("no-such-node")


def test_tenants(client: SyncLatticeClient) -> None:
    id = name("physics")
    assert client.create_tenant(id, quota={"max_nodes": 3}).quota.max_nodes == 3
    assert client.update_tenant(id, description="CERN").description == "CERN"
    assert client.get_tenant(id).quota.max_nodes == 3
    limits = client.update_tenant(id, {"max_nodes": 250, "gpu_hours_budget": 150000}).quota
    assert (limits.max_nodes, limits.gpu_hours_budget) == (250, 150000)
    assert client.update_tenant(id, unset=["max_nodes"]).quota.max_nodes is None
    assert id in {tenant.id for tenant in client.list_tenants()}
    with pytest.raises(LatticeConflictError) as caught:
        client.create_tenant(id)
    assert caught.value.code == "already_exists"
    assert client.tenant_usage(id, days=3).days == 3


def test_vclusters(client: SyncLatticeClient) -> None:
    id = name("night")
    made = client.create_vcluster(id, scheduler="hpc_backfill", backfill_depth=7)
    assert (made.scheduler, made.backfill_depth) == ("hpc_backfill", 7)
    assert client.update_vcluster(id, description="at night").description == "at night"
    assert client.get_vcluster(id).weights["wait_time"] > 0
    assert id in {vcluster.id for vcluster in client.list_vclusters()}


def test_workflows(client: SyncLatticeClient, tmp_path: Path) -> None:
    members = [
        {"id": "a", "entrypoint": "true"},
        {"id": "b", "entrypoint": "true", "depends_on": [{"ref": "a", "condition": "success"}]},
    ]
    dag = client.submit_dag({"name": "two", "allocations": members})
    client.wait(dag.allocation_id("b"))
    assert client.get_dag(dag.id).state == "completed"
    edges = client.dag_graph(dag.id).edges
    assert [(one.from_, one.to, one.condition) for one in edges] == [("a", "b", "success")]
    (tmp_path / "two.json").write_text(json.dumps({"allocations": [{"id": "c", "entrypoint": "true", "nodes": 99}]}))
    waiting = client.submit_dag(tmp_path / "two.json")
    assert waiting.id in {one.id for one in client.list_dags(state="running")}
    assert client.cancel_dag(waiting.id).state == "cancelled"


def test_sessions(client: SyncLatticeClient) -> None:
    made = client.create_session(AllocationSpec(nodes=1, walltime="10m"))
    assert client.get_session(made.id).allocation_id == made.allocation_id
    assert made.id in {one.id for one in client.list_sessions()}
    next(event for event in client.watch(made.allocation_id) if event.state == "running")
    second = client.create_session(allocation_id=made.allocation_id)
    assert second.allocation_id == made.allocation_id
    assert client.end_session(made.id).is_final


def test_services_are_there_while_their_allocation_runs(client: SyncLatticeClient) -> None:
    service = name("web")
    submitted = client.submit(AllocationSpec(entrypoint="sleep 60", expose=[{"name": service, "port": 9090}]))
    next(event for event in client.watch(submitted.id) if event.state == "running")
    assert service in {one.name for one in client.list_services()}
    endpoint = client.get_service(service).endpoints[0]
    assert (endpoint.allocation_id, endpoint.port) == (submitted.id, 9090)
    client.cancel(submitted.id)
    client.wait(submitted.id)
    with pytest.raises(LatticeNotFoundError):
        client.get_service(service)


def test_usage_counts_what_ran(client: SyncLatticeClient) -> None:
    client.wait(client.submit(AllocationSpec(entrypoint="sleep 0.2")).id)
    used = client.usage(days=1)
    assert used.user == "ada" and used.node_hours > 0 and used.by_day[-1].node_hours > 0


def test_images_come_from_nodes(client: SyncLatticeClient) -> None:
    with pytest.raises(LatticeNotFoundError) as caught:
        client.list_images()
    assert caught.value.code == "image_unavailable"
    assert {cache.node for cache in client.cache()} == {node.id for node in client.list_nodes() if node.connected}


def test_the_control_plane(run_async: Any) -> None:
    async def body(client: LatticeClient) -> None:
        assert (await client.health()).status == "ok"
        assert await client.ready()
        assert (await client.auth_discovery())["authentication"] == "none"
        status = await client.cluster_status()
        assert status.writable and status.members[0].healthy
        await client.set_signals({"energy_price": 0.5}, valid_seconds=60)
        assert (await client.get_signals())["energy_price"] == 0.5
        made = await client.create_backup()
        assert made.source in {one.source for one in await client.list_backups()}
        verified = await client.verify_backup(made.source)
        assert verified.ok and all(check.ok for check in verified.checks)
        with pytest.raises(LatticeConflictError):
            await client.restore_backup(made.source)

    run_async(body)


@pytest.mark.parametrize(
    ("route", "call"),
    [
        ("/allocations/{id}/metrics", lambda client, id: client.query_metrics(id)),
        ("/allocations/{id}/metrics/stream", lambda client, id: next(client.stream_metrics(id))),
        ("/allocations/{id}/diagnostics", lambda client, id: client.diagnostics(id)),
        ("/allocations/{id}/diagnostics/{section}", lambda client, id: client.diagnostics(id, "network")),
        ("/compare", lambda client, id: client.compare_metrics([id, id], metrics=["gpu_utilization"])),
        ("/allocations/{id}/checkpoint", lambda client, id: client.checkpoint(id)),
        ("/vclusters/{id}/queue", lambda client, id: client.vcluster_queue("hpc-batch")),
        ("/accounting", lambda client, id: client.accounting()),
        ("/services", lambda client, id: client.list_services()),
        ("/services/{name}", lambda client, id: client.get_service("nowhere")),
        ("/audit", lambda client, id: client.query_audit(user="ada")),
    ],
)
def test_unsupported_calls_are_rejected_by_the_server(
    client: SyncLatticeClient, route: str, call: Any
) -> None:
    """Its own words that there is no such thing, exactly when it lists no such path; never something made up."""
    paths = client._caller.send(read("/api/v1/openapi.json"))["paths"]
    supported = bare(f"/api/v1{route}") in {bare(path) for path in paths}
    submitted = client.submit(AllocationSpec(entrypoint="true", nodes=99))
    try:
        if not supported:
            with pytest.raises(LatticeNotAvailableError) as caught:
                call(client, submitted.id)
            assert caught.value.status_code in (404, 405) and caught.value.detail != ""
        elif not route.endswith("/stream"):
            answer = answer_of(lambda: call(client, submitted.id))
            assert not isinstance(answer, LatticeNotAvailableError) or answer.code == "unsupported_feature"
    finally:
        client.cancel(submitted.id)


def bare(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def answer_of(call: Any) -> Any:
    try:
        return call()
    except LatticeError as error:
        return error


def test_both_clients_have_the_same_methods() -> None:
    for method, function in inspect.getmembers(LatticeClient, inspect.isfunction):
        if not method.startswith("_"):
            twin = getattr(SyncLatticeClient, method)
            assert list(inspect.signature(function).parameters) == list(inspect.signature(twin).parameters)


def test_states_compare_in_either_spelling() -> None:
    assert State("running") == "Running" and "Running" == State("running") and State("running") != "failed"
    assert State("Completed").is_final and State("running") in {"running"} and State("running") != 4
