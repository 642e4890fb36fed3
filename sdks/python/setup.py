"""Builds the synchronous client before the package is collected; everything else is in pyproject.toml."""

import runpy
from pathlib import Path

from setuptools import setup

runpy.run_path(str(Path(__file__).parent / "tools" / "make_sync.py"), run_name="build")["build"]()
setup()
