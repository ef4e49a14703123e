"""Python for the lesson that runs in its page: files of Pyodide, each known by its SHA-256, and a zip of the helpers.

pyodide.json names the files of one release of Pyodide. A build that is given a folder or a wheel with these files
(`python -m docs.site --browser PATH`) copies those whose digest agrees; a build that is not has no lesson that runs.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from docs.site.project import DocsError

FOLDER = "pyodide"  # of the site; also the tag by which a build tells Sphinx that it will be there
LOCK = "pyodide-lock.json"
ARCHIVE = "lesson.zip"
PARTS = (  # of it: what the lesson imports, and what runs its cells
    "docs/site/runner.py", "helpers/_*.py", "helpers/plain.py", "helpers/provenance.py", "helpers/significance.py",
    "helpers/exercises/**/*", "helpers/metrics/**/*", "helpers/show/**/*",
)  # fmt: skip
SUFFIXES = (".jsonl", ".json", ".md", ".npz", ".py", ".toml", ".tsv")
_THEN = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold: the same bytes at each build


@cache
def release() -> Any:
    """What pyodide.json says: `version`, `core` (size and SHA-256 by file), `lock` (Pyodide's own, cut short)."""
    return json.loads(Path(__file__).with_name("pyodide.json").read_text(encoding="utf-8"))


@cache
def archive(root: Path) -> bytes:
    """Return the zip with PARTS of a checkout."""
    written = io.BytesIO()
    files = {path for part in PARTS for path in root.glob(part) if path.suffix in SUFFIXES}
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), _THEN)
            zipped.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _project_files(root: Path) -> dict[str, bytes]:
    """Return the files that are not Pyodide's, by name."""
    return {LOCK: json.dumps(release()["lock"], sort_keys=True).encode(), ARCHIVE: archive(root)}


def files(root: Path) -> dict[str, dict[str, Any]]:
    """Return size and SHA-256 of every file that a page may load, by name."""
    known = dict(release()["core"])
    for package in release()["lock"]["packages"].values():
        name = package["file_name"]
        known[name] = {"size": release()["sizes"][name], "sha256": package["sha256"]}
    for name, data in _project_files(root).items():
        known[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return known


def add_pyodide(root: Path, sources: Sequence[Path], target: Path) -> None:
    """Write Python for the lessons into a folder.

    Args:
        root: the checkout.
        sources: folders and zip files (wheels among them) in which the files of Pyodide are looked for.
        target: the folder.

    Raises:
        DocsError: a file is missing, or there only with another digest.
    """
    target.mkdir(parents=True)
    own, wanted = _project_files(root), files(root)
    for path in sources:
        if not path.exists():
            raise DocsError(f"--browser {path}: there is no such folder or file")
    for name, known in wanted.items():
        copies = [own[name]] if name in own else [data for path in sources for data in _read(path, name)]
        right = [data for data in copies if hashlib.sha256(data).hexdigest() == known["sha256"]]
        if not right:
            fault = "another digest than docs/site/pyodide.json names" if copies else "no such file"
            raise DocsError(f"--browser {' '.join(map(str, sources))}: {name}: {fault}")
        (target / name).write_bytes(right[0])


def _read(path: Path, name: str) -> list[bytes]:
    """Return what a folder or a zip file holds under a name, at whatever depth."""
    if path.is_dir():
        return [file.read_bytes() for file in sorted(path.rglob(name))]
    with zipfile.ZipFile(path) as archive:
        return [archive.read(member) for member in archive.namelist() if member.rpartition("/")[2] == name]
