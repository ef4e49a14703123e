"""The metrics install alone: the base of the package needs NumPy and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.test_environment import PROJECT

ROOT = Path(__file__).parents[2]


def imported(*modules: str) -> set[str]:
    """Return the packages that modules import, by their first name."""
    code = f"import sys; before = set(sys.modules); import {', '.join(modules)}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_the_metrics_import_numpy_alone():
    """Whoever wants the metrics would have to install a model library."""
    assert imported("helpers.metrics.acid") - set(sys.stdlib_module_names) == {"helpers", "numpy"}
    assert PROJECT["dependencies"] == ["numpy>=2.0"]


def test_what_neither_plots_nor_computes_imports_no_large_package():
    """Every command and every first cell would wait for packages that it may not use, up to three seconds each."""
    names = ("judgements.__main__", "show.tables", "distributed", "index", "chunks", "data", "significance", "training")
    large = {"scipy", "pandas", "dask", "torch", "sklearn", "matplotlib", "faiss"}
    assert imported(*(f"helpers.{name}" for name in names)) & large == set()


NEEDING = {  # a package, the extra that has it, and what needs it
    "scipy": ("significance", "import helpers.significance as of; of.kendall_tau({1: 1, 2: 2}, {1: 1, 2: 2})"),
    "faiss": ("report", "import helpers.index, numpy; helpers.index.build_index(numpy.ones((2, 2), 'f'))"),
    "tqdm": ("report", "import helpers._optional; helpers._optional.progress_bar(1, '', '', show=True)"),
    "matplotlib": ("report", "import helpers.show.plots"),
}


def test_a_missing_extra_is_named_with_its_command():
    """A reader of the base would see a trace from within, and not how to get the rest."""
    code = "import sys\nfor name in sys.argv[1::2]: sys.modules[name] = None\nfor call in sys.argv[2::2]:\n"
    code += "    try: exec(call)\n    except ModuleNotFoundError as error: print(str(error).splitlines()[-1])"
    words = [word for package, (_, call) in NEEDING.items() for word in (package, call)]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    for line, (package, (extra, _)) in zip(done.stdout.splitlines(), NEEDING.items(), strict=True):
        assert line.startswith(package)
        assert line.endswith(
            f'install the extra [{extra}], in a checkout by python -m pip install --editable ".[{extra}]"'
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package in a folder of its own, as a wheel puts it there, without what it requires."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "helpers", source / "helpers", ignore=shutil.ignore_patterns("__pycache__"))
    how = ["--quiet", "--no-deps", "--no-build-isolation", "--target", target, source]
    subprocess.run([sys.executable, "-m", "pip", "install", *how], check=True)
    return target


def test_a_wheel_holds_every_file_of_the_package(installed):
    """A sub-package, a bundled collection or the mark of typing would be missing from a release."""
    for given in (path for path in (ROOT / "helpers").rglob("*") if "__pycache__" not in path.parts):
        assert (installed / given.relative_to(ROOT)).exists(), given.relative_to(ROOT)
    tops = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert tops == {"helpers", "retrieval_commands", "bin"}


@pytest.mark.parametrize(("path", "stranger"), [("", "helpers.py"), (".", "helpers/__init__.py")])
def test_commands_run_beside_another_helpers(path, stranger, installed, tmp_path):
    """In a repository with helpers of its own no command would start, or acid would hide them from its code."""
    (tmp_path / stranger).parent.mkdir(exist_ok=True)
    (tmp_path / stranger).write_text("mine = True\n", encoding="utf-8")
    code = """
import sys
import helpers
def evaluate(run, qrels, metric):
    ours = [name for name in sys.modules if name.startswith(("helpers.", "retrieval_"))]
    raise KeyError(ours) if ours or not helpers.mine else NotImplementedError
"""
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [path, str(installed)]))}

    def run(name, *words):
        done = [sys.executable, installed / "bin" / name, *words]
        return subprocess.run(done, cwd=tmp_path, env=environment, capture_output=True, text=True)

    acid = run("retrieval-acid", "mine:evaluate")
    assert "0 of 0 cases agree; 738 not offered." in acid.stdout, acid.stdout + acid.stderr
    for name in ("retrieval-judge", "retrieval-report"):
        done = run(name, "--help")
        assert done.stdout.startswith(f"usage: {name} "), done.stderr
    failed = run("retrieval-report", "--fail-if-drop", "ndcg@10")
    assert failed.returncode == 1, failed.stderr  # by which continuous integration knows
