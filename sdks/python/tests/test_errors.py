"""Answers that are not successes become errors of the catalogue."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from lattice_sdk import (
    LatticeAuthError,
    LatticeConflictError,
    LatticeConnectionError,
    LatticeError,
    LatticeForbiddenError,
    LatticeInvalidError,
    LatticeNotAvailableError,
    LatticeNotFoundError,
    LatticeRateLimitError,
    LatticeServerError,
    LatticeTimeoutError,
    LatticeUnavailableError,
    RetryPolicy,
    SyncLatticeClient,
)
from lattice_sdk.call import read
from lattice_sdk.errors import CLASS_OF_CODE, error_from_answer

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "errors.md"
CATALOGUE = re.findall(r"^\| `(\w+)` \| (\d+) \| \d+ \| (\d+) \| (yes|no) \|", PAGE.read_text("utf-8"), re.MULTILINE)

CLASSES_OF_EXIT: dict[int, tuple[type[LatticeError], ...]] = {
    1: (LatticeServerError,),
    2: (LatticeInvalidError, LatticeNotAvailableError),
    3: (LatticeNotFoundError, LatticeNotAvailableError),
    4: (LatticeAuthError,),
    5: (LatticeConflictError,),
    6: (LatticeError,),
    7: (LatticeUnavailableError,),
}


def test_every_code_of_the_catalogue_has_the_class_that_the_command_line_would_give_it() -> None:
    assert len(CATALOGUE) > 40
    for code, status, exit_status, retryable in CATALOGUE:
        body = {"code": code, "detail": "d", "hint": "h", "fields": [], "retryable": retryable == "yes"}
        error = error_from_answer(int(status), json.dumps(body))
        assert type(error) is not LatticeError, code
        assert isinstance(error, CLASSES_OF_EXIT[int(exit_status)]), code
        assert (error.code, error.detail, error.hint) == (code, "d", "h")
        assert (error.status_code, error.retryable) == (int(status), retryable == "yes")


def test_no_class_is_for_a_code_that_does_not_exist() -> None:
    assert set(CLASS_OF_CODE) <= {code for code, *_ in CATALOGUE}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (502, "<html>Bad Gateway</html>", LatticeUnavailableError),
        (504, "", LatticeTimeoutError),
        (404, '{"code": "unknown_thing_of_the_future"}', LatticeNotFoundError),
        (418, "[]", LatticeError),
        (500, "null", LatticeServerError),
        (403, '{"detail": "no"}', LatticeForbiddenError),
    ],
)
def test_responses_of_proxies_are_tolerated(status: int, body: str, kind: type[LatticeError]) -> None:
    error = error_from_answer(status, body)
    assert type(error) is kind
    assert error.status_code == status and str(error) != ""


def test_a_rate_limit_has_a_retry_delay() -> None:
    error = error_from_answer(429, '{"code": "rate_limited", "retryable": true}', {"retry-after": "7"})
    assert isinstance(error, LatticeRateLimitError) and error.retry_after == 7.0


def test_an_unsupported_call(client: SyncLatticeClient) -> None:
    with pytest.raises(LatticeError) as caught:
        client._caller.send(read("/api/v1/no-such-path"))
    assert type(caught.value) is LatticeNotAvailableError
    assert "/api/v1/no-such-path" in caught.value.detail and caught.value.status_code == 404


@pytest.mark.parametrize("body", [b"[]", b"{}", b"<html>", b'{"node": {"since": "yesterday"}}', b'{"node": 4}'])
def test_an_answer_of_another_shape_is_an_error_of_the_server(body: bytes) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body))
    with SyncLatticeClient("api", transport=transport) as client, pytest.raises(LatticeError) as caught:
        client.drain_node("node-1")
    assert caught.value.status_code == 200


def test_an_unreachable_server() -> None:
    with SyncLatticeClient("127.0.0.1", 9, retry=RetryPolicy(retries=1)) as client:
        with pytest.raises(LatticeConnectionError) as caught:
            client.health()
    assert (caught.value.status_code, caught.value.sent) == (0, False)
