"""Builds the synchronous client, lattice_sdk/_sync, from the asynchronous one by replacing words. It is not committed:
``pip install`` and ``npm run build`` build it, and so does ``python3 tools/make_sync.py``.
"""

from __future__ import annotations

import re
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


def build() -> None:
    TARGET.mkdir(exist_ok=True)
    made = {path.name: made_from(path) for path in sorted(SOURCE.glob("*.py"))}
    for name, text in made.items():
        (TARGET / name).write_text(text, "utf-8")
    for path in TARGET.glob("*.py"):
        if path.name not in made:
            path.unlink()


if __name__ == "__main__":
    build()
