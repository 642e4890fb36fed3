"""Settings, queues, accounts and metrics, against a real server."""

from __future__ import annotations

import time
import uuid

import pytest

from lattice_sdk import (
    AllocationSpec,
    LatticeConflictError,
    LatticeInvalidError,
    LatticeNotFoundError,
    SyncLatticeClient,
)
from lattice_sdk.models.monitoring import metrics_from_json


def test_settings_are_changed_and_put_back(client: SyncLatticeClient) -> None:
    before = client.get_config("scheduling.max_dag_size")["scheduling.max_dag_size"]
    client.set_config("scheduling.max_dag_size", 17)
    assert client.get_config("scheduling")["scheduling.max_dag_size"] == 17
    client.reset_config("scheduling.max_dag_size")
    assert client.get_config("scheduling.max_dag_size") == {"scheduling.max_dag_size": before}


def test_queue_and_rejected_deletion(client: SyncLatticeClient) -> None:
    client.create_tenant("passing")
    client.create_vcluster("passing-queue", tenant="passing")
    waits = client.submit(
        AllocationSpec(entrypoint="true", nodes=99, tenant="passing", vcluster="passing-queue", tags={"k": "v"})
    )
    assert [one["allocation_id"] for one in client.vcluster_queue("passing-queue")["entries"]] == [waits.id]
    assert [one.id for one in client.list_allocations(tag=["k=v"], tenant="passing")] == [waits.id]
    assert client.scheduler_status("passing-queue")["vclusters"][0]["pending"] == 1
    assert client.server_metrics("scheduler", duration_seconds=60)["samples"][0]["points"]
    node = client.list_nodes()[0]
    assert client.assign_node(node.id, "passing-queue").home_vcluster == "passing-queue"
    assert client.assign_node(node.id, None).home_vcluster == ""
    with pytest.raises(LatticeConflictError):
        client.delete_vcluster("passing-queue")
    client.cancel(waits.id)
    client.delete_vcluster("passing-queue")
    once = str(uuid.uuid4())
    for _ in range(2):
        client.delete_tenant("passing", request_id=once)
    with pytest.raises(LatticeNotFoundError):
        client.get_tenant("passing")
    assert waits.id in {one["allocation_id"] for one in client.accounting(tenant="passing")["records"]}


def test_unmeasured_metrics_are_reported(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="true", nodes=99))
    try:
        assert client.query_metrics(submitted.id).unavailable_reason != ""
        assert next(client.stream_metrics(submitted.id)).unavailable_reason != ""
        changed = client.update(submitted.id, telemetry_mode="debug", telemetry_seconds=60)
        assert changed.id == submitted.id
        assert client.query_metrics(submitted.id).telemetry_mode == "debug"
    finally:
        client.cancel(submitted.id)


def test_series_are_read_by_their_newest_point() -> None:
    series = [{"metric": "gpu_utilization", "points": [{"value": 1}, {"value": 87.3}]}]
    metrics = metrics_from_json({"allocation_id": "7", "series": series})
    assert metrics.gpu_utilization == 87.3 and metrics.values == {"gpu_utilization": 87.3}


def test_grants_notices_networks_and_the_audit_log(client: SyncLatticeClient) -> None:
    client.create_tenant("granted")
    client.add_grant("granted", "ada", "tenant_admin")
    assert [(one.user, one.role) for one in client.list_grants("granted")] == [("ada", "tenant_admin")]
    with pytest.raises(LatticeInvalidError):
        client.add_grant("granted", "ada", "king")
    once = str(uuid.uuid4())
    for _ in range(2):
        client.remove_grant("granted", "ada", "tenant_admin", request_id=once)
    assert client.list_grants("granted") == []
    assert client.verify_audit()["ok"] is True
    assert client.list_networks()["vni_pool_start"] > 0
    for ask in (lambda: client.get_domain("nowhere"), lambda: client.set_domain_grace("nowhere", 60)):
        with pytest.raises(LatticeNotFoundError):
            ask()
    assert isinstance(client.list_notices(), list)
    client.delete_tenant("granted")


def test_rotating_the_job_key_needs_authentication(client: SyncLatticeClient) -> None:
    # This cluster wants no tokens.
    with pytest.raises(LatticeConflictError) as caught:
        client.rotate_job_key()
    assert "job tokens" in caught.value.detail
    with pytest.raises(LatticeInvalidError):
        client.rotate_job_key(keep_seconds=10**9)


def test_an_enrolment_is_created_listed_and_removed(client: SyncLatticeClient) -> None:
    created = client.create_enrolment(3, networks=["10.1.0.0/16"])
    assert created.token.startswith("lte_")
    (listed,) = client.list_enrolments()
    assert (listed.max_nodes, listed.networks, listed.state) == (3, ["10.1.0.0/16"], "open")
    client.remove_enrolment(listed.enrolment_id)
    assert client.list_enrolments() == []


def test_unknown_ids_raise_not_found(client: SyncLatticeClient) -> None:
    for ask in (client.resume, client.checkpoint_status, client.node_condition):
        with pytest.raises(LatticeNotFoundError):
            ask("999999")


def test_a_network_domain_and_its_grace(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(command=["sleep", "60"], network_domain="python-net"))
    try:
        deadline = time.monotonic() + 180
        while True:
            try:
                domain = client.get_domain("python-net")
                break
            except LatticeNotFoundError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        assert domain.state == "active" and domain.allocation_ids == [submitted.id] and domain.vni > 0
        assert client.set_domain_grace("python-net", 5).grace_seconds == 5
    finally:
        client.cancel(submitted.id)
