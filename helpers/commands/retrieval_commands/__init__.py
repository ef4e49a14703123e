"""The commands of the package, which work where a file or package of yours is called helpers too.

This package has a name of its own. Before it imports `helpers`, it leaves out the folders in which another one lies:
the current folder, or those of PYTHONPATH.
"""

import sys
from importlib import import_module
from pathlib import Path


def _strange(folder: Path) -> bool:
    """Tell whether a folder has a module or package helpers that is not this one."""
    found = [path for path in (folder / "helpers.py", folder / "helpers" / "__init__.py") if path.exists()]
    return bool(found) and not (folder / "helpers" / "provenance.py").exists()


def _run(module: str) -> int:
    sys.path[:] = [entry for entry in sys.path if not _strange(Path(entry))]
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
