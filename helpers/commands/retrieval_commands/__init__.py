"""The commands of the package, which work where a file or package of yours is called helpers too.

This package has a name of its own. Before it imports `helpers`, it leaves out the folders in which another one lies:
the current folder, or those of PYTHONPATH.
"""

import sys
from importlib import import_module
from pathlib import Path


def _run(module: str) -> int:
    for entry in sys.path[:]:
        found = any(Path(entry, name).exists() for name in ("helpers.py", "helpers/__init__.py"))
        if found and not Path(entry, "helpers", "provenance.py").exists():
            sys.path.remove(entry)
    status: int = import_module(module).main()
    return status


def acid() -> int:
    """Run `retrieval-acid`."""
    return _run("helpers.metrics.acid.__main__")


def judge() -> int:
    """Run `retrieval-judge`."""
    return _run("helpers.judgements.__main__")


def report() -> int:
    """Run `retrieval-report`."""
    return _run("helpers.report")
