"""Streams while everything goes well; test_restarts.py breaks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lattice_sdk import (
    AllocationSpec,
    LatticeClient,
    LatticeNotFoundError,
    LaunchEnd,
    LaunchStarted,
    SyncLatticeClient,
    TaskEnd,
    TaskOutput,
)
from lattice_sdk.log_lines import LogAssembler
from lattice_sdk.sse import EventParser, ServerSentEvent


def watched(client: SyncLatticeClient, seen: Path) -> tuple[str, list[Any]]:
    """Work that ends because it is watched, and all that was seen of it."""
    submitted = client.submit(AllocationSpec(entrypoint=f"until [ -e {seen} ]; do sleep 0.05; done"))
    events = []
    for event in client.watch(submitted.id):
        seen.touch()
        events.append(event)
    return submitted.id, events


def test_a_watch_shows_the_present_state_and_each_change_until_the_last(
    client: SyncLatticeClient, tmp_path: Path
) -> None:
    id, events = watched(client, tmp_path / "seen")
    assert events[0].kind == "current"
    assert [event.state for event in events][-2:] == ["running", "completed"]
    assert all(later.from_state == earlier.state for earlier, later in zip(events, events[1:]))
    again = list(client.watch(id))
    assert [(event.kind, event.state) for event in again] == [("current", "completed")]


def test_a_watch_resumes_after_a_cursor(client: SyncLatticeClient, tmp_path: Path) -> None:
    id, events = watched(client, tmp_path / "seen")
    rest = list(client.watch(id, after=events[0].cursor))
    assert rest == events[1:]


def test_watching_an_unknown_allocation(client: SyncLatticeClient) -> None:
    with pytest.raises(LatticeNotFoundError):
        next(iter(client.watch("999999999")))


def test_events_of_everything_have_no_end_but_can_be_left(run_async: Any) -> None:
    async def body(client: LatticeClient) -> None:
        before = (await client.health()).log_index
        submitted = await client.submit(AllocationSpec(entrypoint="true"))
        async for event in client.events(kinds=["allocation_changed"], after=before):
            if event.allocation_id == submitted.id and event.state == "completed":
                break
        await client.health()

    run_async(body)


def test_output_is_followed_line_by_line_while_it_is_written(client: SyncLatticeClient, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"echo first; until [ -e {seen} ]; do sleep 0.05; done; echo second; printf end"
    submitted = client.submit(AllocationSpec(entrypoint=script))
    lines = []
    for line in client.stream_logs(submitted.id):
        # It ends only because its first line was seen.
        seen.touch()
        lines.append(line.message)
    assert lines == ["first", "second", "end"]


def test_bytes_that_are_not_text_do_not_end_the_stream(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint=r"printf 'a\377b\n\303\274\n'"))
    client.wait(submitted.id)
    assert [line.message for line in client.logs(submitted.id)] == ["a\ufffdb", "ü"]
    assert [line.message for line in client.logs(submitted.id, tail=1)] == ["ü"]


def test_tasks_are_launched_in_an_allocation(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="sleep 60"))
    next(event for event in client.watch(submitted.id) if event.state == "running")
    events = list(client.launch(submitted.id, ["sh", "-c", "echo out; exit 3"], tasks=1))
    assert isinstance(events[0], LaunchStarted) and events[0].layout[0].tasks == 1
    assert b"".join(event.data for event in events if isinstance(event, TaskOutput)) == b"out\n"
    assert [event.exit_code for event in events if isinstance(event, (TaskEnd, LaunchEnd))] == [3, 3]
    client.cancel(submitted.id)


def test_input_reaches_the_tasks(run_async: Any) -> None:
    async def body(client: LatticeClient) -> None:
        submitted = await client.submit(AllocationSpec(entrypoint="sleep 60"))
        async for event in client.watch(submitted.id):
            if event.state == "running":
                break
        output = b""
        async for launched in client.launch(submitted.id, ["cat"], tasks=1, input=True):
            if isinstance(launched, LaunchStarted):
                await client.send_input(submitted.id, launched.launch_id, b"over there", end=True)
            if isinstance(launched, TaskOutput):
                output += launched.data
        assert output == b"over there"
        await client.cancel(submitted.id)

    run_async(body)


def test_a_task_has_a_terminal_that_is_typed_into_and_resized(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="sleep 600"))
    next(event for event in client.watch(submitted.id) if event.state == "running")
    shown, typed, launch_id = b"", False, ""
    line = "stty size; echo ready; read word; stty size; echo got $word"
    for event in client.launch(submitted.id, ["sh", "-c", line], tasks=1, pty=True, rows=30, columns=100):
        if isinstance(event, LaunchStarted):
            launch_id = event.launch_id
        if isinstance(event, TaskOutput):
            shown += event.data
        if b"ready" in shown and not typed:
            typed = True
            client.send_input(submitted.id, launch_id, b"this\n", size=(25, 90))
    assert b"30 100" in shown and b"25 90" in shown and b"got this" in shown
    client.cancel(submitted.id)


def test_events_are_read_from_any_cut_of_the_bytes() -> None:
    text = ": ping\n\nid: 4:1\r\nevent: changed\r\ndata: {\ndata: \"ü\"}\n\ndata:x\n\n: end".encode()
    wanted = [ServerSentEvent("4:1", "changed", '{\n"ü"}'), ServerSentEvent("4:1", "message", "x")]
    for size in range(1, len(text) + 1):
        parser = EventParser()
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        assert [event for part in parts for event in parser.feed(part)] == wanted


def test_lines_of_several_nodes_do_not_mix_and_resume() -> None:
    assembler = LogAssembler()
    pieces = [
        {"node": "a", "stream": "stdout", "data": "b25l", "offset": "3", "attempt": 1},
        {"node": "b", "stream": "stdout", "data": "eAo=", "offset": "2", "attempt": 1},
        {"node": "a", "stream": "stdout", "data": "ICsK", "offset": "6", "attempt": 1},
    ]
    lines = [(line.node, line.message) for piece in pieces for line in assembler.feed(piece)]
    assert lines == [("b", "x"), ("a", "one +")]
    assert assembler.resume() == ["1:a:stdout:6", "1:b:stdout:2"]
    assert list(assembler.finish()) == []


def test_event_history_of_an_allocation(client: SyncLatticeClient) -> None:
    submitted = client.submit(AllocationSpec(entrypoint="exit 3"))
    streamed = list(client.stream_allocation_events(submitted.id))
    listed = client.allocation_events(submitted.id)
    assert [event.cursor for event in listed][: len(streamed)] == [event.cursor for event in streamed]
    assert all(event.text and event.at for event in listed)
    states = client.allocation_events(submitted.id, types=["state"])
    assert {event.type for event in states} == {"state"} and len(states) > 1
    behind = client.allocation_events(submitted.id, after=listed[0].cursor)
    assert [event.cursor for event in behind] == [event.cursor for event in listed[1:]]
    with pytest.raises(LatticeNotFoundError):
        next(client.stream_allocation_events("999999"))
