"""The server's URL, the caller's identity, and the token of a call."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from lattice_sdk import LatticeAuthError, LatticeConflictError, LatticeInvalidError, RetryPolicy, SyncLatticeClient
from lattice_sdk.address import authority, identity_headers, server_url
from lattice_sdk.tokens import token_source

URL = "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    ("host", "port", "url"),
    [
        ("api.example.com", 8080, "http://api.example.com:8080"),
        ("api.example.com", None, "http://api.example.com:8080"),
        ("api.example.com:9000", None, "http://api.example.com:9000"),
        ("https://api.example.com/", None, "https://api.example.com"),
        ("https://api.example.com", 8443, "https://api.example.com:8443"),
        ("::1", 8080, "http://[::1]:8080"),
        (None, None, "http://there:1"),
        ("one, https://two:9/", None, "http://one:8080,https://two:9"),
    ],
)
def test_addresses(host: str | None, port: int | None, url: str) -> None:
    assert server_url(host, port, {"LATTICE_ENDPOINT": "there:1"}) == url


def test_servers_and_trusted_certificates_come_from_the_environment() -> None:
    assert server_url(None, None, {"LATTICE_API_URL": "https://one:1, two:2"}) == "https://one:1,http://two:2"
    env = {"LATTICE_CA": "/etc/lattice/ca.pem"}
    assert [authority(given, env) for given in (True, False, "mine.pem")] == ["/etc/lattice/ca.pem", False, "mine.pem"]
    assert authority(True, {}) is True


def test_the_next_server_is_asked_when_one_is_away_or_cannot_serve() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if request.url.host == "away":
            raise httpx.ConnectError("refused")
        if request.url.host == "busy":
            return httpx.Response(503, json={"code": "unavailable", "detail": "not now", "retryable": True})
        return httpx.Response(200, json={"status": "ok"})

    quick = RetryPolicy(first_delay=0.0)
    with SyncLatticeClient("away,busy,well", transport=httpx.MockTransport(answer), retry=quick) as client:
        assert client.url == "http://away:8080,http://busy:8080,http://well:8080"
        client.health()
        client.health()
    # Where it was served it stays.
    assert asked == ["away", "busy", "well", "well"]


def test_identity_headers() -> None:
    env = {"LATTICE_USER": "env", "LATTICE_TENANT": "t"}
    assert identity_headers(user="Zoë K", tenant=None, headers=None, env=env) == {
        "x-lattice-user": "Zo%C3%AB%20K",
        "x-lattice-tenant": "t",
    }
    stated = identity_headers(user=None, tenant=None, headers={"X-Tenant": "my-team"}, env={})
    assert stated["x-lattice-tenant"] == "my-team"


def cache(home: Path, text: str, mode: int = 0o600) -> Path:
    path = home / "lattice" / "tokens.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return path


def test_tokens_in_their_order(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert token_source(None, URL, env)() is None
    cache(tmp_path, json.dumps({URL: {"accessToken": "kept", "refreshToken": None, "expiresAtMs": 1}}))
    assert token_source(None, URL, env)() == "kept"
    assert token_source(None, "http://elsewhere", env)() is None
    assert token_source(None, URL, {**env, "LATTICE_TOKEN": "env"})() == "env"
    assert token_source("given", URL, {**env, "LATTICE_TOKEN": "env"})() == "given"
    assert token_source(lambda: "made", URL, env)() == "made"


def test_a_renewed_token_is_used_by_the_next_call(tmp_path: Path) -> None:
    source = token_source(None, URL, {"XDG_CONFIG_HOME": str(tmp_path)})
    for word in ("first", "second"):
        cache(tmp_path, json.dumps({URL: {"accessToken": word}}))
        assert source() == word


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    cache(tmp_path, json.dumps({URL: {"accessToken": "kept"}}), mode)
    with pytest.raises(LatticeAuthError) as caught:
        token_source(None, URL, {"XDG_CONFIG_HOME": str(tmp_path)})()
    assert "chmod 600" in caught.value.hint and "kept" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", f'{{"{URL}": {{}}}}', f'{{"{URL}": 4}}'])
def test_a_damaged_token_file_is_reported(tmp_path: Path, text: str) -> None:
    cache(tmp_path, text)
    with pytest.raises(LatticeAuthError, match="damaged"):
        token_source(None, URL, {"XDG_CONFIG_HOME": str(tmp_path)})()


def test_the_token_and_the_headers_are_sent() -> None:
    seen: list[httpx.Headers] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(200, json={"id": "1", "log_index": "41"})

    with SyncLatticeClient("api", token="word", user="ada", transport=httpx.MockTransport(answer)) as client:
        client.submit({"entrypoint": "true"})
        client.status("1")
    assert [one["authorization"] for one in seen] == ["Bearer word"] * 2
    assert [one["x-lattice-user"] for one in seen] == ["ada"] * 2
    # A client reads its own writes through any server.
    assert [one.get("x-lattice-min-index") for one in seen] == [None, "41"]


def test_a_server_that_wants_a_token_says_so() -> None:
    body = {"code": "unauthenticated", "detail": "this server wants a token", "status": 401}
    transport = httpx.MockTransport(lambda request: httpx.Response(401, json=body))
    with SyncLatticeClient("api", transport=transport) as client, pytest.raises(LatticeAuthError) as caught:
        client.health()
    assert caught.value.status_code == 401


OWN = "a" * 32
OTHER = "b" * 32


@pytest.mark.parametrize("named", [OWN, f"{OTHER},{OWN}", ""])
def test_answers_of_the_own_cluster_are_accepted(named: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["x-lattice-cluster"] == OWN
        return httpx.Response(200, json={"status": "ok"}, headers={"x-lattice-cluster": named} if named else {})

    with SyncLatticeClient(URL, cluster_id=OWN, transport=httpx.MockTransport(answer)) as client:
        client.health()


def test_an_answer_of_another_cluster_is_refused() -> None:
    answer = httpx.Response(200, json={"status": "ok"}, headers={"x-lattice-cluster": OTHER})
    with SyncLatticeClient(URL, cluster_id=OWN, transport=httpx.MockTransport(lambda _: answer)) as client:
        with pytest.raises(LatticeConflictError) as refused:
            client.health()
    assert refused.value.code == "foreign_cluster"
    with pytest.raises(LatticeInvalidError):
        SyncLatticeClient(URL, cluster_id="prod")


def test_a_real_server_refuses_calls_for_another_cluster(api_url: str) -> None:
    with SyncLatticeClient(api_url, user="ada") as client:
        own = client.cluster_status().cluster_id
    with SyncLatticeClient(api_url, user="ada", cluster_id=own) as client:
        client.cluster_status()
    with SyncLatticeClient(api_url, user="ada", cluster_id=OTHER) as client:
        with pytest.raises(LatticeConflictError) as refused:
            client.cluster_status()
    assert refused.value.code == "foreign_cluster"
    assert refused.value.status_code == 409
