"""Makes the synchronous client out of the asynchronous one, word by word, so that the two cannot differ.

    python3 tools/make_sync.py            writes lattice_sdk/_sync
    python3 tools/make_sync.py --check    says whether it is up to date, with exit status 1 when it is not
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "lattice_sdk"
SOURCE = PACKAGE / "_async"
TARGET = PACKAGE / "_sync"

NOTE = "# Made from {name} in lattice_sdk/_async by tools/make_sync.py; change that one.\n"

WORDS: tuple[tuple[str, str], ...] = (
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bimport asyncio\n", ""),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAwaitable\[(\w+)\]", r"\1"),
    (r", Awaitable\b", ""),
    (r"\bAsyncByteStream\b", "ByteStream"),
    (r"\bAsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\baclosing\b", "closing"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bAsyncClient\b", "Client"),
    (r"\bAsyncBaseTransport\b", "BaseTransport"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\baread\b", "read"),
    (r"\baclose\b", "close"),
    (r"__aiter__", "__iter__"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\bLatticeClient\b", "SyncLatticeClient"),
    (r"The asynchronous client", "The synchronous client"),
)


def made_from(path: Path) -> str:
    text = path.read_text("utf-8")
    needs_time = "asyncio.sleep" in text and "\nimport time\n" not in text
    if needs_time:
        text = text.replace("import asyncio\nimport json\n", "import json\nimport time\n")
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return NOTE.format(name=path.name) + text


def main(words: list[str]) -> int:
    wanted = {path.name: made_from(path) for path in sorted(SOURCE.glob("*.py"))}
    if words == ["--check"]:
        there = {path.name: path.read_text("utf-8") for path in TARGET.glob("*.py")}
        for name in sorted({*wanted, *there}):
            if wanted.get(name) != there.get(name):
                print(f"lattice_sdk/_sync/{name} is out of date: run python3 tools/make_sync.py")
        return 0 if wanted == there else 1
    TARGET.mkdir(exist_ok=True)
    for name, text in wanted.items():
        (TARGET / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
