"""The metrics install alone: the base of the package needs NumPy and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.project.test_environment import PROJECT

ROOT = Path(__file__).parents[2]


def test_the_metrics_import_numpy_alone():
    """Whoever wants the metrics would have to install a model library."""
    code = "import sys; before = set(sys.modules); import helpers.metrics.acid; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    packages = {name.partition(".")[0] for name in done.stdout.split()}
    assert packages - set(sys.stdlib_module_names) == {"helpers", "numpy"}
    assert PROJECT["dependencies"] == ["numpy>=2.0"]


@pytest.mark.parametrize(
    "module", ["judgements.__main__", "show.tables", "distributed", "index", "chunks", "data", "significance"]
)
def test_what_neither_plots_nor_computes_imports_no_large_package(module):
    """Every command and every first cell would wait for packages that it may not use, up to three seconds each."""
    code = f"import sys, helpers.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"scipy", "pandas", "dask", "torch", "sklearn", "matplotlib", "faiss"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("helpers.significance as of; of.kendall_tau([1, 2], [1, 2])", "scipy", "significance"),
        ("helpers.index, numpy; helpers.index.build_index(numpy.ones((2, 2), 'f'))", "faiss", "report"),
        ("helpers._optional; helpers._optional.progress_bar(1, '', '', show=True)", "tqdm", "report"),
        ("helpers.show.plots", "matplotlib", "report"),
    ],
)
def test_a_missing_extra_is_named_with_its_command(module, package, extra):
    """A reader of the base would see a trace from within, and not how to get the rest."""
    code = f"import sys; sys.modules[{package!r}] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ModuleNotFoundError: {package}")
    assert last.endswith(f'install the extra [{extra}], in a checkout by python -m pip install --editable ".[{extra}]"')


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_runs_the_acid_test(tmp_path):
    """The wheel would lack the cases, or a package that the metrics need."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "helpers", tmp_path / "helpers", ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "wheels", "."]
    subprocess.run(build, cwd=tmp_path, check=True)
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    [wheel] = (tmp_path / "wheels").glob("*.whl")
    install = [python, "-m", "pip", "install", "-q"]
    if subprocess.run([*install, *PROJECT["dependencies"]]).returncode:
        pytest.skip("no package index can be reached")
    subprocess.run([*install, wheel], check=True)
    command = [python, "-m", "helpers.metrics.acid", "helpers.metrics:evaluate"]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path / "wheels", env=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "738 of 738 cases agree" in done.stdout
