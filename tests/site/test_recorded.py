"""What pages have of real runs: the scores of the pictures; and the helpers of the lesson that runs in its page."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site.pyodide import archive
from docs.site.run import LESSON
from notebooks.kit.cells import code_cells
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_path, read
from tests.site.rankings import SCORES, scores

ABSENT = ("FlagEmbedding", "bm25s", "datasets", "faiss", "filelock", "huggingface_hub", "jieba", "lzma", "pyarrow")
ABSENT += ("safetensors", "tokenizers", "torch", "tqdm", "transformers")
RUN = """
import json, sys
class Absent:
    def find_spec(self, name, *_):
        if name in sys.argv[1].split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
sys.path.insert(0, ".")
from docs.site.runner import Kernel
kernel = Kernel(print)
assert all([kernel.run(*cell) for cell in json.load(sys.stdin)])
import helpers
print(helpers.__file__)
"""


@pytest.mark.slow
def test_the_scores_of_the_pictures_are_those_of_a_real_run():
    """A picture would show scores that no system gives any more; another processor may move a query in a hundred."""
    stored = json.loads(SCORES.read_text(encoding="utf-8"))
    for language in LANGUAGES:
        for metric, systems in scores(language).items():
            assert stored[language][metric].keys() == systems.keys()
            for name, each in systems.items():
                gaps = np.abs(np.array(stored[language][metric][name]) - each)
                assert (gaps > 1e-5).mean() < 0.01, (language, metric, name)
                assert gaps.mean() < 0.001, (language, metric, name)


def test_the_setup_of_the_lesson_needs_nothing_that_the_page_lacks(tmp_path: Path):
    """An import that stops there would be noticed in a browser alone."""
    zipfile.ZipFile(io.BytesIO(archive(ROOT))).extractall(tmp_path)
    setup = [(cell.id, cell.source) for cell in code_cells(read(lesson_path(ROOT, "en", LESSON), ROOT))[:2]]
    setup.append(("exercise", "from helpers.exercises import check\nassert not check('kappa', max).right"))
    command = [sys.executable, "-c", RUN, " ".join(ABSENT)]
    done = subprocess.run(command, cwd=tmp_path, input=json.dumps(setup), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
