"""What pages have of real runs: the rankings of the pictures; and the helpers of the lesson that runs in its page."""

from __future__ import annotations

import io
import json
import math
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
from notebooks.kit.notebooks import ROOT, lesson_path, read
from tests.site.recorded import FILE, recorded

NEAR = 1e-5  # between the scores of two machines
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


def test_the_rankings_of_the_page_are_those_of_a_real_run():
    """The page would compute its tables from rankings that no system gives any more."""
    fresh = recorded()
    with np.load(FILE) as arrays:
        stored = dict(arrays)
    assert stored.keys() == fresh.keys()
    for name in (name.removesuffix("/ids") for name in stored if name.endswith("/ids")):
        old, new = ((file[f"{name}/scores"], file[f"{name}/ids"]) for file in (stored, fresh))
        assert old[1].shape == new[1].shape
        np.testing.assert_allclose(old[0], new[0], rtol=NEAR, atol=NEAR)
        for rows in zip(*old, *new, strict=True):
            here, there = (dict(zip(rows[at + 1].tolist(), rows[at].tolist(), strict=True)) for at in (0, 2))
            for passage in here.keys() | there.keys():  # one that a single run has is as good as the other's last
                pair = [ranking.get(passage, min(ranking.values())) for ranking in (here, there)]
                assert math.isclose(*pair, rel_tol=NEAR, abs_tol=NEAR), (name, passage)


def test_the_setup_of_the_lesson_needs_nothing_that_the_page_lacks(tmp_path: Path):
    """An import that stops there would be noticed in a browser alone."""
    zipfile.ZipFile(io.BytesIO(archive(ROOT))).extractall(tmp_path)
    setup = [(cell.id, cell.source) for cell in code_cells(read(lesson_path(ROOT, "en", LESSON), ROOT))[:2]]
    setup.append(("exercise", "from helpers.exercises import check\nassert not check('kappa', max).right"))
    command = [sys.executable, "-c", RUN, " ".join(ABSENT)]
    done = subprocess.run(command, cwd=tmp_path, input=json.dumps(setup), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
