"""Terminals in running allocations, on a real cluster; frames and TLS against an end that is played here."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lattice_sdk import (
    AllocationSpec,
    LatticeClient,
    LatticeConflictError,
    LatticeConnectionError,
    LatticeInvalidError,
    LatticeNotAvailableError,
    LatticeNotFoundError,
    RetryPolicy,
    SyncLatticeClient,
    SyncTerminal,
)
from lattice_sdk.web_socket import BINARY, Closed, FrameReader, ProtocolError, frame, read_answer

WRONG_SIZES: list[Any] = [
    (0, 80), (24, 0), (-1, 80), (24, -5), (4097, 80), (24, 10**12), ("24", 80), (24, None), (True, 80), (2.5, 80),
    (float("nan"), 80), 24, (24,), (24, 80, 1), "24x80",
]  # fmt: skip


@pytest.fixture
def running(client: SyncLatticeClient) -> Iterator[str]:
    submitted = client.submit(AllocationSpec(entrypoint="sleep 600"))
    next(event for event in client.watch(submitted.id) if event.state == "running")
    yield submitted.id
    client.cancel(submitted.id)


def read_until(terminal: SyncTerminal, wanted: bytes) -> bytes:
    """Output arrives in pieces of any size."""
    shown = b""
    while wanted not in shown:
        piece = terminal.read()
        assert piece, f"it ended with {terminal.end} and showed {shown!r}"
        shown += piece
    return shown


def test_a_command_is_typed_into_resized_and_ends_with_its_code(client: SyncLatticeClient, running: str) -> None:
    line = "stty size; echo ready; read word; stty size; echo got $word, $TERM; exit 7"
    with client.attach(running, command=line, size=(30, 100), term="vt100") as terminal:
        assert terminal.node.startswith("node-") and terminal.exit_code is None
        shown, typed = b"", False
        for piece in terminal:
            shown += piece
            if b"ready" in shown and not typed:
                typed = True
                terminal.resize(25, 90)
                terminal.write("this\n")
        assert b"30 100" in shown and b"25 90" in shown and b"got this, vt100" in shown
        assert terminal.exit_code == 7 and terminal.end is not None and terminal.end.reason == ""
        assert terminal.read() == b""


def test_the_asynchronous_terminal_reads_and_writes_concurrently(run_async: Any, running: str) -> None:
    async def body(client: LatticeClient) -> None:
        async with await client.attach(running, command="read word; echo got $word; exit 3") as terminal:
            await terminal.write(b"that\n")
            shown = b"".join([piece async for piece in terminal])
        assert b"got that" in shown and terminal.exit_code == 3

    run_async(body)


def test_a_paste_and_a_flood_come_through_whole(client: SyncLatticeClient, running: str) -> None:
    line = "stty raw -echo; echo ready; head -c 300000 | sha1sum; seq 1 20000; echo done"
    pasted = bytes(32 + at % 90 for at in range(300_000))
    with client.attach(running, command=line) as terminal:
        shown = read_until(terminal, b"ready")
        # The end is read here while another thread types, as a person's two hands do.
        typing = threading.Thread(target=terminal.write, args=(pasted,))
        typing.start()
        shown += b"".join(terminal)
        typing.join()
    assert hashlib.sha1(pasted).hexdigest().encode() in shown
    assert [int(word) for word in shown.split() if word.isdigit()][-20_000:] == list(range(1, 20_001))
    assert terminal.exit_code == 0


def test_signals_reach_what_runs_in_it(client: SyncLatticeClient, running: str) -> None:
    line = "trap 'echo told; exit 5' USR1; echo ready; while :; do sleep 0.1; done"
    with client.attach(running, command=line) as terminal:
        read_until(terminal, b"ready")
        with pytest.raises(LatticeInvalidError, match="signal is 'stop'.*One of int"):
            terminal.signal("stop")  # type: ignore[arg-type]
        terminal.signal("usr1")
        assert terminal.wait().exit_code == 5


def test_hanging_up_ends_what_ran(client: SyncLatticeClient, running: str, tmp_path: Path) -> None:
    told = tmp_path / "told"
    terminal = client.attach(running, command=f"trap 'touch {told}; exit' HUP; echo ready; while :; do sleep 0.1; done")
    read_until(terminal, b"ready")
    terminal.close()
    assert terminal.exit_code == -1 and terminal.read() == b""
    with client.attach(running, command=f"until [ -e {told} ]; do sleep 0.1; done") as other:
        assert other.wait().exit_code == 0


@pytest.mark.parametrize("size", WRONG_SIZES)
def test_a_size_that_makes_no_sense_is_refused_before_anything_is_sent(size: Any) -> None:
    with SyncLatticeClient("127.0.0.1", 9, retry=RetryPolicy(retries=0)) as unreachable:
        with pytest.raises(LatticeInvalidError) as attached:
            unreachable.attach("1", size=size)
        assert attached.value.code == "invalid_argument"
        assert attached.value.fields[0].field in ("size", "rows", "columns")
        with pytest.raises(LatticeInvalidError):
            unreachable.send_input("1", "2", size=size)
        if isinstance(size, tuple) and len(size) == 2:
            with pytest.raises(LatticeInvalidError):
                next(unreachable.launch("1", ["true"], pty=True, rows=size[0], columns=size[1] or 0))


def test_a_wrong_size_leaves_an_open_terminal_as_it_was(client: SyncLatticeClient, running: str) -> None:
    with client.attach(running, command="read word; stty size", size=(30, 100)) as terminal:
        for rows, columns in ((0, 80), (24, -1), (24, 100_000)):
            with pytest.raises(LatticeInvalidError, match="at least 1 and at most 4096"):
                terminal.resize(rows, columns)
        terminal.write("on\n")
        assert b"30 100" in b"".join(terminal)


def test_refusals_have_their_class(client: SyncLatticeClient, running: str) -> None:
    with pytest.raises(LatticeNotFoundError):
        client.attach("999999999")
    with pytest.raises(LatticeInvalidError, match="node"):
        client.attach(running, node="elsewhere")
    waiting = client.submit(AllocationSpec(entrypoint="true", nodes=1000))
    with pytest.raises(LatticeConflictError, match="pending"):
        client.attach(waiting.id)
    client.cancel(waiting.id)
    with SyncLatticeClient("127.0.0.1", 9, retry=RetryPolicy(retries=0)) as unreachable:
        with pytest.raises(LatticeConnectionError, match="no server answers"):
            unreachable.attach("1")
    refusing = httpx.MockTransport(lambda request: httpx.Response(200))
    with SyncLatticeClient(client.url, transport=refusing) as own:
        with pytest.raises(LatticeNotAvailableError, match="transport"):
            own.attach(running)
    with SyncLatticeClient(client.url, headers={"x-note": "a\r\nx-lattice-user: root"}) as sly:
        with pytest.raises(LatticeInvalidError, match="line break"):
            sly.attach(running)


def test_terminals_end_with_their_allocation(client: SyncLatticeClient, running: str) -> None:
    with client.attach(running, command="echo ready; sleep 600") as terminal:
        read_until(terminal, b"ready")
        client.cancel(running)
        end = terminal.wait()
    assert end.exit_code != 0


def test_frames_are_read_from_any_cut_of_the_bytes() -> None:
    def server_frame(first: int, payload: bytes) -> bytes:
        size = len(payload)
        return bytes([first]) + (bytes([size]) if size < 126 else bytes([126]) + size.to_bytes(2, "big")) + payload

    long = b"x" * 300
    sent = server_frame(0x82, b"\x00\xff") + server_frame(0x89, b"hi") + server_frame(0x01, "grü".encode())
    sent += server_frame(0x8A, b"") + server_frame(0x80, b"n") + server_frame(0x82, long)
    sent += server_frame(0x88, b"\x03\xe8")
    for size in (1, 2, 3, 7, 50, len(sent)):
        reader = FrameReader()
        parts = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert [one for part in parts for one in reader.feed(part)] == [b"\x00\xff", "grün", long, Closed(1000)]
        assert [answer[0] for answer in reader.answers] == [0x8A, 0x88]


@pytest.mark.parametrize("wrong", [b"\xc2\x00", b"\x82\x80", b"\x80\x01x", b"\x82\x7f" + b"\xff" * 8])
def test_frames_that_no_server_sends(wrong: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(FrameReader().feed(wrong))


def test_a_peer_without_http_is_reported() -> None:
    with pytest.raises(ProtocolError):
        read_answer(b"SSH-2.0-OpenSSH\r\n\r\n")
    assert read_answer(b"HTTP/1.1 101 Switch") is None


@pytest.fixture
def secret_server(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A TLS server that echoes input in capitals and ends with code 4 at a full stop."""
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    words = "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2".split()
    subprocess.run(["openssl", *words, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("localhost", 0))
    threading.Thread(target=_play, args=(listener, context), daemon=True).start()
    yield listener.getsockname()[1], certificate
    listener.close()


def _play(listener: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            plain, _ = listener.accept()
            with context.wrap_socket(plain, server_side=True) as peer:
                _serve(peer)
        except (ssl.SSLError, ConnectionError):
            continue
        except OSError:
            return


def _serve(peer: ssl.SSLSocket) -> None:
    head = b""
    while b"\r\n\r\n" not in head:
        head += peer.recv(4096)
    key = next(line for line in head.split(b"\r\n") if line.startswith(b"sec-websocket-key")).split(b": ")[1]
    proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    started = b'{"started":{"node":"far"}}'
    # In one piece, so that the first message comes with the answer.
    peer.sendall(
        b"HTTP/1.1 101 ok\r\nsec-websocket-accept: " + proof + b"\r\n\r\n" + bytes([0x81, len(started)]) + started
    )
    while True:
        first, size = _exactly(peer, 2)
        mask, hidden = _exactly(peer, 4), _exactly(peer, size & 0x7F)
        payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(hidden))
        if first != 0x80 | BINARY:
            return
        peer.sendall(bytes([first, len(payload)]) + payload.upper())
        if payload == b".":
            end = b'{"exit":{"code":4}}'
            peer.sendall(bytes([0x81, len(end)]) + end + b"\x88\x02\x03\xe8")
            return


def _exactly(peer: ssl.SSLSocket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = peer.recv(count - len(data))
        if not chunk:
            raise ssl.SSLError("gone")
        data += chunk
    return data


def test_terminals_over_tls(secret_server: tuple[int, str]) -> None:
    port, authority = secret_server
    once = RetryPolicy(retries=0)

    async def body() -> tuple[str, list[bytes], int | None]:
        async with LatticeClient(f"https://localhost:{port}", verify=authority, retry=once) as client:
            async with await client.attach("1") as terminal:
                for word in (b"one", b"."):
                    await terminal.write(word)
                return terminal.node, [piece async for piece in terminal], terminal.exit_code

    assert asyncio.run(asyncio.wait_for(body(), 240)) == ("far", [b"ONE", b"."], 4)
    with SyncLatticeClient(f"https://localhost:{port}", verify=authority, retry=once) as client:
        with client.attach("1") as terminal:
            for word in (b"one", b"."):
                terminal.write(word)
            assert (terminal.node, list(terminal), terminal.exit_code) == ("far", [b"ONE", b"."], 4)
    with SyncLatticeClient(f"https://localhost:{port}", retry=once) as wary:
        with pytest.raises(LatticeConnectionError, match="(?i)certificate"):
            wary.attach("1")


def test_a_frame_of_a_client_is_hidden_behind_its_mask() -> None:
    for size in (0, 1, 125, 126, 65_535, 65_536):
        payload = bytes(at % 256 for at in range(size))
        sent = frame(BINARY, payload)
        head = 6 if size < 126 else 8 if size < 65_536 else 14
        mask = sent[head - 4 : head]
        assert bytes(byte ^ mask[at % 4] for at, byte in enumerate(sent[head:])) == payload
