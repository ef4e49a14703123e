"""What nbconvert makes of a lesson: a script that runs, a page, slides; the contributing page has the commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbconvert.exporters import get_exporter

from notebooks.kit.cells import code_cells, is_volatile
from notebooks.kit.compare import squeeze
from notebooks.kit.execute import OFFLINE, cache_folder
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read

LESSONS = [(language, name) for name in lesson_names(ROOT) for language in LANGUAGES]


def convert(kind: str, language: str, name: str) -> str:
    """What `jupyter nbconvert --to KIND` writes."""
    return get_exporter(kind)().from_filename(str(lesson_path(ROOT, language, name)))[0]


@pytest.mark.parametrize(("language", "name"), LESSONS)
def test_the_script_is_the_code_of_the_lesson(language: str, name: str):
    """A script would lack a cell, or use what IPython alone has: a magic, a shell command."""
    script = convert("python", language, name)
    lines = [line for line in script.splitlines() if line and not line.startswith("#")]
    cells = [cell.source for cell in code_cells(read(lesson_path(ROOT, language, name), ROOT))]
    assert lines == [line for line in "\n".join(cells).splitlines() if line and not line.startswith("#")]
    assert "get_ipython" not in script
    compile(script, name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["01_evaluation", "02_metrics"])
def test_the_script_runs_and_prints_what_the_lesson_prints(name: str, tmp_path: Path):
    """A reader who takes the lesson as a script would get an error, or other numbers."""
    script = tmp_path / "lesson.py"
    script.write_text(convert("python", "en", name), encoding="utf-8")
    env = os.environ | OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(ROOT)), "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    printed = squeeze(done.stdout)
    cells = [cell for cell in code_cells(read(lesson_path(ROOT, "en", name), ROOT)) if not is_volatile(cell)]
    streams = [squeeze(output.text) for cell in cells for output in cell.outputs if output.output_type == "stream"]
    assert streams  # a table shown between two of their lines is text of a script
    assert [line for text in streams for line in text.split("\n") if line not in printed] == []
