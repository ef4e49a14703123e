"""The cache folder, for files that can be recomputed: embeddings and converted models."""

import os
from pathlib import Path


def default_cache() -> Path:
    """Return the cache folder: ``EVAL_CACHE_DIR``, else a folder in the user's cache."""
    named = os.environ.get("EVAL_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named).expanduser() if named else Path(user) / "retrieval-evaluation-tutorial"
