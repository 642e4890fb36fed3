"""A server with authentication: a valid token, no token, and a token of another user."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster import PROGRAMS, Cluster

from lattice_sdk import AllocationSpec, LatticeAuthError, LatticeForbiddenError, SyncLatticeClient

Issue = Callable[[str], str]


@pytest.fixture(scope="module")
def secret() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        path.write_text("this secret is long enough for the hash it keys", "utf-8")
        path.chmod(0o600)
        yield path


@pytest.fixture(scope="module")
def url(secret: Path) -> Iterator[str]:
    with Cluster(nodes=0, config=f'api: {{ oidc_hmac_secret: "file://{secret}" }}\n') as cluster:
        yield cluster.url


@pytest.fixture(scope="module")
def issue(secret: Path) -> Issue:
    """A token for a user, as an administrator makes one."""

    def issued(user: str) -> str:
        words = ["admin", "token", "create", "--secret-file", str(secret), "--user", user, "--tenant", "default"]
        env = {**os.environ, "HOME": str(secret.parent)}
        return subprocess.run(
            [str(PROGRAMS / "lattice"), *words], env=env, check=True, capture_output=True, text=True
        ).stdout.strip()

    return issued


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LATTICE_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_without_a_token_the_server_refuses(url: str) -> None:
    with SyncLatticeClient(url) as client, pytest.raises(LatticeAuthError) as caught:
        client.list_allocations()
    assert (caught.value.status_code, caught.value.code) == (401, "unauthenticated")


def test_a_token_identifies_the_caller(url: str, issue: Issue) -> None:
    with SyncLatticeClient(url, token=issue("ada"), user="eve") as ada:
        submitted = ada.submit(AllocationSpec(entrypoint="true"))
        assert ada.status(submitted.id).user == "ada"
        with SyncLatticeClient(url, token=issue("bob")) as bob, pytest.raises(LatticeForbiddenError) as caught:
            bob.cancel(submitted.id)
        assert caught.value.status_code == 403
        assert ada.cancel(submitted.id).state == "cancelled"


def test_the_environment_and_the_kept_token_serve_as_well(
    url: str, issue: Issue, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ada, bob = issue("ada"), issue("bob")
    kept = tmp_path / "lattice" / "tokens.json"
    kept.parent.mkdir()
    kept.touch(mode=0o600)
    kept.write_text(json.dumps({url: {"accessToken": ada}}), "utf-8")
    with SyncLatticeClient(url) as client:
        assert client.usage().user == "ada"
        monkeypatch.setenv("LATTICE_TOKEN", bob)
        assert client.usage().user == "bob"
        monkeypatch.delenv("LATTICE_TOKEN")
        kept.chmod(0o644)
        with pytest.raises(LatticeAuthError, match="can be read by others"):
            client.usage()
