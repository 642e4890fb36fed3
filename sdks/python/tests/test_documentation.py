"""The guide is run as it is written: every block opened with ``python run``, each in its own process. A
line ``# => text`` states what the output must contain.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "users" / "python.md"
BLOCKS = re.findall(r"^```python run\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_there_is_something_to_run() -> None:
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_page_does_what_it_says(number: int, api_url: str, tmp_path: Path) -> None:
    block = BLOCKS[number]
    env = {**os.environ, "LATTICE_API_URL": api_url, "PYTHONPATH": str(ROOT / "sdks" / "python")}
    done = subprocess.run(
        [sys.executable, "-B", "-c", block], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    for expected in re.findall(r"^# => (.*)$", block, re.MULTILINE):
        assert expected.strip() in done.stdout


def test_every_method_is_named_on_the_page() -> None:
    from lattice_sdk import LatticeClient

    text = PAGE.read_text("utf-8")
    grouped = re.compile(r"(member|backups?|signals|leader|tenants?|vclusters?)$")
    methods = [name for name in dir(LatticeClient) if not name.startswith("_") and name != "close"]
    assert [name for name in methods if f"`{name}`" not in text and not grouped.search(name)] == []
