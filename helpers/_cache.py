"""The folder for files that can be recomputed: embeddings, and models that were converted."""

import os
from pathlib import Path


def default_cache() -> Path:
    """Return the folder of the cache: ``EVAL_CACHE_DIR``, else one in the user's own cache folder."""
    named = os.environ.get("EVAL_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named).expanduser() if named else Path(user) / "retrieval-evaluation-tutorial"
