"""Maintainers' tools: run, record, compare and check the lessons (`python -m notebooks.kit --help`)."""

import sys

# nbformat loads jsonschema, which would load this, for seconds, to check addresses; the kit checks none.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
