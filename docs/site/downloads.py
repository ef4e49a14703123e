"""Every lesson as a notebook to keep, and the recorded report."""

from __future__ import annotations

import shutil
from pathlib import Path

from docs.site.project import Edition
from docs.site.report import source
from notebooks.kit.notebooks import LANGUAGES, lesson_names


def downloads(root: Path, target: Path) -> None:
    """Write every lesson and the report to en/downloads and zh/downloads below target."""
    for edition in (Edition(root, language) for language in LANGUAGES):
        folder = target / edition.language / "downloads"
        folder.mkdir(parents=True)
        if source(edition).exists():
            shutil.copyfile(source(edition), folder / "report.html")
        for name in lesson_names(root):
            shutil.copyfile(edition.source(name), folder / f"{name}.ipynb")
