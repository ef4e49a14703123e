"""The ways to the environment agree: pyproject.toml, lock and environment.yml; and the README's picture is real."""

import base64
import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .tools.figures import agrees, notebook_figures
from .tools.notebooks import lesson_path, read

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROJECT_JUPYTER = [Requirement(line).name for line in PROJECT["optional-dependencies"]["jupyter"]]
NAMED = (
    "jupyter",
    "nbconvert",
    "papermill",
    "numpy",
    "faiss-cpu",
    "FlagEmbedding",
    "datasets",
    "scikit-learn",
    "matplotlib",
)


def requirements() -> list[Requirement]:
    """Return every requirement of the package and of its extras."""
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    return [Requirement(line) for line in PROJECT["dependencies"] + extras]


def locked() -> dict[str, str]:
    """Return the lock: canonical name to version."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return {canonicalize_name(name): pin for name, pin in (line.split("==") for line in lines)}


def test_lock_pins_every_requirement_within_its_range():
    """A package missing from the lock installs as whatever is newest that day."""
    pins = locked()
    for requirement in requirements():
        assert canonicalize_name(requirement.name) in pins, requirement
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def test_lock_names_no_build_and_no_address():
    """A local build tag or an index address would fail on every other machine."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.!]+(\.post\d+)?", line) for line in text.split())


def test_installed_versions_are_the_locked_ones():
    """The recorded outputs belong to the locked versions; tests of others would prove nothing about them."""
    pins = locked()
    for requirement in requirements():
        assert version(requirement.name).split("+")[0] == pins[canonicalize_name(requirement.name)], requirement


def test_conda_file_names_the_same_packages():
    """conda is a door to the same environment and must not drift from it."""
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    pip = next(entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    assert [line for line in pip if not line.startswith("--")] == list(NAMED)
    assert {"--constraint constraints.txt", "--editable ."} <= set(pip)
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert any(entry.startswith(f"python >={lowest}") for entry in conda["dependencies"] if isinstance(entry, str))
    assert {canonicalize_name(name) for name in NAMED} <= {canonicalize_name(r.name) for r in requirements()}


def test_binder_installs_the_locked_versions_and_torch_for_processors():
    """Binder's machines have no GPU: the usual torch would fill their disk, another version would change outputs."""
    binder = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text(encoding="utf-8"))
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert (binder["name"], binder["channels"]) == (conda["name"], conda["channels"])
    pip = next(entry["pip"] for entry in binder["dependencies"] if isinstance(entry, dict))
    assert pip == ["--constraint ../constraints.txt", *PROJECT_JUPYTER, "--editable .."]
    assert f"pytorch-cpu ={locked()['torch']}" in binder["dependencies"]


def test_the_stated_versions_of_python_are_those_that_install():
    """A reader with a Python that is promised would find that the package refuses it."""
    classifiers = [line for line in PROJECT["classifiers"] if line.startswith("Programming Language :: Python :: 3.")]
    stated = [line.rpartition(" ")[2] for line in classifiers]
    assert stated == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={stated[0]}"
    conda = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert f"python >={stated[0]},<3.{int(stated[-1].split('.')[1]) + 1}" in conda


@pytest.mark.parametrize("readme", ["README.md", "README_zh.md"])
def test_the_readmes_picture_is_the_recorded_one(readme):
    """A picture of another run would contradict the lesson it stands for."""
    assert "docs/images/growth.png" in (ROOT / readme).read_text(encoding="utf-8")
    notebook = json.loads((ROOT / "notebooks/en/01_evaluation.ipynb").read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "growth")
    [recorded] = [o["data"]["image/png"] for o in cell["outputs"] if "image/png" in o.get("data", {})]
    recorded = recorded if isinstance(recorded, str) else "".join(recorded)
    assert (ROOT / "docs/images/growth.png").read_bytes() == base64.b64decode(recorded)


@pytest.mark.parametrize("readme", ["README.md", "README_zh.md"])
def test_the_readmes_script_gives_the_figures_of_lesson_03(readme):
    """A reader who copies it would get other numbers than the lessons, as from another line of relevance."""
    [script] = re.findall(r"```python\n(.+?)```", (ROOT / readme).read_text(encoding="utf-8"), re.S)
    names: dict = {}
    exec(script.replace("\nevaluate(", "\nmean = evaluate("), names)
    notebook = read(lesson_path(ROOT, "en", "03_model_comparison"), ROOT)
    figures = notebook_figures(notebook)
    for metric, value in names["mean"].items():
        assert agrees(figures[f"pocket/MiniLM, mean/{metric}"], str(value)), metric
