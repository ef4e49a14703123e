"""What nbconvert makes of a lesson: a script that runs; the contributing page has the command."""

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
from notebooks.kit.notebooks import ROOT, lesson_path, read


@pytest.mark.slow
@pytest.mark.parametrize("name", ["01_evaluation", "02_metrics"])
def test_the_script_runs_and_prints_what_the_lesson_prints(name: str, tmp_path: Path):
    """A reader who takes the lesson as a script would get an error, or other numbers."""
    script = tmp_path / "lesson.py"
    script.write_text(get_exporter("python")().from_filename(str(lesson_path(ROOT, "en", name)))[0], encoding="utf-8")
    env = os.environ | OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(ROOT)), "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    printed = squeeze(done.stdout)
    cells = [cell for cell in code_cells(read(lesson_path(ROOT, "en", name), ROOT)) if not is_volatile(cell)]
    streams = [squeeze(output.text) for cell in cells for output in cell.outputs if output.output_type == "stream"]
    assert streams  # a table shown between two of their lines is text of a script
    assert [line for text in streams for line in text.split("\n") if line not in printed] == []
