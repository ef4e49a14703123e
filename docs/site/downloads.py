"""Every lesson as a file to keep: the notebook, and a script; and the recorded report."""

from __future__ import annotations

import shutil
from pathlib import Path

from nbconvert import PythonExporter

from docs.site.project import Edition
from docs.site.report import source
from notebooks.kit.notebooks import LANGUAGES, lesson_names


def downloads(root: Path, target: Path) -> None:
    """Write every lesson as .ipynb and .py, and the report, to en/downloads and zh/downloads below target."""
    exporter = PythonExporter()
    for edition in (Edition(root, language) for language in LANGUAGES):
        folder = target / edition.language / "downloads"
        folder.mkdir(parents=True)
        if source(edition).exists():
            shutil.copyfile(source(edition), folder / "report.html")
        for name in lesson_names(root):
            shutil.copyfile(edition.source(name), folder / f"{name}.ipynb")
            code, _ = exporter.from_notebook_node(edition.lesson(name))
            (folder / f"{name}.py").write_text(code, encoding="utf-8", newline="\n")
