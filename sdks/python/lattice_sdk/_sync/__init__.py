# Made from __init__.py in lattice_sdk/_async by tools/make_sync.py; change that one.
"""The synchronous client. The synchronous one is made from these files by tools/make_sync.py; change them here."""
