"""A cluster of the built programs, in its own directory. The server can be stopped and started again on the same
ports and data. Leaving it ends what it started and whatever that has started in its folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from lattice_sdk import SyncLatticeClient

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "node_modules" / ".bin"
READY_WITHIN = 180.0


class Cluster:
    def __init__(self, nodes: int, config: str | None = None) -> None:
        """``config``: the text of the server's configuration file."""
        self.dir = Path(tempfile.mkdtemp(prefix="lattice-test-python-"))
        self._rest = self._grpc = "127.0.0.1:0"
        self._server: subprocess.Popen[str] | None = None
        self._agents: list[subprocess.Popen[str]] = []
        self._nodes = nodes
        self._config = config

    @property
    def url(self) -> str:
        return f"http://{self._rest}"

    def __enter__(self) -> Cluster:
        try:
            self.start_server()
            for number in range(1, self._nodes + 1):
                self._start_agent(f"node-{number}")
            if self._nodes > 0:
                self._wait_for_nodes()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for program in [self._server, *self._agents]:
            if program is not None and program.poll() is None:
                program.kill()
                program.wait()
        _end_all_in(self.dir)
        shutil.rmtree(self.dir, ignore_errors=True)

    def start_server(self) -> None:
        args = ["--data-dir", str(self.dir / "server"), "--rest-listen", self._rest, "--grpc-listen", self._grpc]
        if self._config is not None:
            (self.dir / "server.yaml").write_text(self._config, "utf-8")
            args = ["--config", str(self.dir / "server.yaml"), *args]
        self._server = self._start("lattice-server", args)
        ready = _ready_line(self._server)
        self._rest, self._grpc = ready["rest"], ready["grpc"]

    def stop_server(self) -> None:
        assert self._server is not None
        self._server.terminate()
        self._server.wait(READY_WITHIN)

    def kill_server(self) -> None:
        assert self._server is not None
        self._server.kill()
        self._server.wait(READY_WITHIN)

    def _start_agent(self, node: str) -> None:
        args = ["--node-id", node, "--server", self._grpc, "--data-dir", str(self.dir / node)]
        self._agents.append(self._start("lattice-agent", args))

    def _start(self, name: str, args: list[str]) -> subprocess.Popen[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("LATTICE_", "NODE_OPTIONS"))}
        with open(self.dir / f"{name}.log", "a", encoding="utf-8") as log:
            return subprocess.Popen(
                [str(PROGRAMS / name), *args],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**kept, "LATTICE_AGENT_USER_MAPPING": "none"},
            )

    def _wait_for_nodes(self) -> None:
        until = time.monotonic() + READY_WITHIN
        with SyncLatticeClient(self.url) as client:
            while len([node for node in client.list_nodes(state="ready") if node.connected]) < self._nodes:
                assert time.monotonic() < until, "the nodes do not get ready"
                time.sleep(0.1)


def _ready_line(program: subprocess.Popen[str]) -> dict[str, Any]:
    assert program.stdout is not None
    for line in program.stdout:
        if line.startswith("{"):
            return dict(json.loads(line))
    raise AssertionError(f"the program ended with {program.wait()} before it was ready")


def _end_all_in(folder: Path) -> None:
    """Workloads outlive their agent, so they are found by the folder that they mention."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            seen = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in seen:
            try:
                os.kill(int(entry.name), signal.SIGKILL)
            except ProcessLookupError:
                pass
