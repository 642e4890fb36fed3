"""The asynchronous client. The synchronous one is made from these files by tools/make_sync.py; change them here."""
