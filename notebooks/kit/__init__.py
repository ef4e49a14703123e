"""Maintainers' tools: run, record, compare and check the lessons (`python -m notebooks.kit --help`)."""
