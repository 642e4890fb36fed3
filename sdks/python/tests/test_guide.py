"""The guide of the SDK, method by method and as it is written there: names, arguments, the members that are read, and the
error classes. What the guide leaves to the reader's cluster, such as images and GPUs, is left out.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import lattice_sdk
from lattice_sdk import AllocationSpec, LatticeAuthError, LatticeClient, LatticeError, LatticeNotFoundError

METHODS = """submit submit_dag status list_allocations list_nodes stream_logs query_metrics stream_metrics watch cancel
checkpoint list_tenants list_vclusters""".split()

WORKFLOW = """
name: nightly
allocations:
  - id: prepare
    entrypoint: "true"
"""


def test_every_method_of_the_guide_is_there_in_both_clients() -> None:
    for client in (lattice_sdk.LatticeClient, lattice_sdk.SyncLatticeClient):
        assert [name for name in METHODS if not callable(getattr(client, name, None))] == []


def test_the_quick_start(run_async: Any) -> None:
    async def body(client: LatticeClient) -> None:
        alloc = await client.submit(AllocationSpec(entrypoint="echo trained", nodes=1, walltime="24h"))
        status = await client.status(alloc.id)
        assert status.id == alloc.id and status.state
        seen = []
        async for event in client.watch(alloc.id):
            seen.append(event.state)
            if event.state in ("Completed", "Failed", "Cancelled"):
                break
        assert seen[-1] == "Completed"
        assert [line.message async for line in client.stream_logs(alloc.id)] == ["trained"]

    run_async(body)


def test_listing_monitoring_and_management(run_async: Any, tmp_path: Path) -> None:
    workflow = tmp_path / "workflow.yaml"
    workflow.write_text(WORKFLOW, "utf-8")

    async def body(client: LatticeClient) -> None:
        dag = await client.submit_dag(str(workflow))
        assert dag.id
        alloc = await client.submit(AllocationSpec(entrypoint="sleep 600", walltime="72h", telemetry="debug"))
        async for event in client.watch(alloc.id):
            if event.state == "Running":
                break
        assert alloc.id in [one.id for one in await client.list_allocations(state="running")]
        assert len(await client.list_nodes(state="ready")) > 0
        metrics = await client.query_metrics(alloc.id)
        assert f"GPU util: {metrics.gpu_utilization}%"
        snapshots = client.stream_metrics(alloc.id)
        async for snapshot in snapshots:
            assert hasattr(snapshot, "gpu_utilization")
            break
        await snapshots.aclose()
        assert len(await client.list_tenants()) > 0 and len(await client.list_vclusters()) > 0
        with pytest.raises(LatticeError, match="takes no checkpoints"):
            await client.checkpoint(alloc.id)
        await client.cancel(alloc.id)
        assert (await client.wait(alloc.id)).state == "Cancelled"

    run_async(body)


def test_its_errors(run_async: Any) -> None:
    async def body(client: LatticeClient) -> None:
        with pytest.raises(LatticeNotFoundError) as missing:
            await client.status("nonexistent-id")
        assert isinstance(missing.value, LatticeError) and missing.value.status_code == 404
        assert str(missing.value)

    run_async(body)
    assert issubclass(LatticeAuthError, LatticeError)


def test_how_it_is_made() -> None:
    given = inspect.signature(LatticeClient).parameters
    assert list(given)[:2] == ["host", "port"] and {"token", "headers"} <= set(given)
    LatticeClient("api.example.com", 8080, token="eyJ...")
    LatticeClient("api.example.com", 8080, headers={"X-Tenant": "my-team"})
