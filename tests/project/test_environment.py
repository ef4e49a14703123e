"""The ways to the environment agree: pyproject.toml, locks, Makefile and READMEs; what they show is real."""

import base64
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from notebooks.kit.cells import by_id
from notebooks.kit.figures import agrees, notebook_figures
from notebooks.kit.notebooks import lesson_path, read

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LESSONS = "[jupyter,lessons,zh]"
EVERYTHING = "[distributed,docs,jupyter,lessons,test,zh]"


PYTHONS = ["3.11", "3.12", "3.13"]
PLATFORMS = ["x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"]


def of_extras(*names: str) -> list[str]:
    """Return what extras bring, and what the extras of this package that they name bring."""
    own = PROJECT["name"]
    lines = [line for name in names for line in PROJECT["optional-dependencies"][name]]
    named = [line.removeprefix(f"{own}[").rstrip("]") for line in lines if line.startswith(own)]
    return [line for line in lines if not line.startswith(own)] + (of_extras(*named) if named else [])


REQUIREMENTS = [Requirement(line) for line in PROJECT["dependencies"] + of_extras(*PROJECT["optional-dependencies"])]


def locked() -> dict[str, str]:
    """Return the lock: canonical name to version; a build tag or an address would fail on every other machine."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.!]+(\.post\d+)?", line) for line in lines)
    return {canonicalize_name(name): pin for name, pin in (line.split("==") for line in lines)}


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_lock_pins_every_requirement_within_its_range(requirement: Requirement):
    """A package would install as whatever is newest that day, or these tests prove nothing about the locked version."""
    pin = locked()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pin)
    if not requirement.marker or requirement.marker.evaluate():
        assert version(requirement.name).split("+")[0] == pin


def test_torch_is_one_whose_restricted_loader_holds():
    """Before 2.6 a pickle of a stranger could run code in spite of ``weights_only`` (CVE-2025-32434)."""
    torch = next(requirement for requirement in REQUIREMENTS if requirement.name == "torch")
    assert [torch.specifier.contains(one) for one in ("2.5.1", "2.5.99+cpu", "2.6.0")] == [False, False, True]


def test_the_published_site_is_built_from_the_locked_versions():
    """The published pages would be made by other versions than the tested ones, or without a hash: run `make lock`."""
    text = (ROOT / ".github" / "pages-requirements.txt").read_text(encoding="utf-8")
    entries = [entry.split() for entry in re.sub(r"#.*\n", "", text).replace("\\\n", " ").strip().split("\n")]
    for pin, *digests in entries:
        assert digests, f"{pin} has no hash"
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", digest) for digest in digests), pin
    pins, known = dict(pin.split("==") for pin, *_ in entries), locked()
    assert {name: known.get(canonicalize_name(name)) for name in pins} == pins
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    needed = {canonicalize_name(Requirement(line).name) for line in groups["pages"]}
    assert needed <= set(pins)
    extra = {canonicalize_name(Requirement(line).name) for line in PROJECT["optional-dependencies"]["docs"]}
    assert extra - {"playwright"} <= needed, "the docs extra has a package that the published build lacks"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_misspelt_variable_of_make_is_refused():
    """`make report MODLE=mine` would evaluate the default model, without a word."""
    command = ["make", "--dry-run", "report"]
    wrong = subprocess.run([*command, "MODLE=mine"], cwd=ROOT, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "unknown: MODLE; there are PYTHON NB LANGUAGE MODEL DATA" in wrong.stderr
    right = subprocess.run([*command, "MODEL=my mine", "REPORT_OPTIONS=--a b"], cwd=ROOT, capture_output=True)
    assert right.returncode == 0


def resolve(folder: Path, requirements: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Let uv choose versions for requirements, from the index that pip is configured for, as the Makefile does."""
    pip = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    index = os.environ.get("PIP_INDEX_URL") or subprocess.run(pip, capture_output=True, text=True).stdout.strip()
    environment = {"UV_DEFAULT_INDEX": index, "MACOSX_DEPLOYMENT_TARGET": "14.0"} | os.environ
    wanted = folder / "requirements.in"
    wanted.write_text(requirements, encoding="utf-8")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *options, str(wanted)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_installs_on_every_machine_that_the_readme_names(python: str, platform: str, tmp_path: Path):
    """A reader with the first release of a Python, or another processor, would get no environment from the lock."""
    if resolve(tmp_path, "uv", "--refresh").returncode:
        pytest.skip("no package index can be reached")
    for extras in (LESSONS, EVERYTHING):
        sources = ["jieba"]  # pure Python, published as source alone
        if extras == EVERYTHING and "aarch64-manylinux" in platform:
            sources.append("pytrec-eval-terrier")  # README: tests need a C compiler there
        options = ["--python-version", f"{python}.0", "--python-platform", platform]
        options += ["--constraint", str(ROOT / "constraints.txt"), "--only-binary", ":all:"]
        options += [word for name in sources for word in ("--no-binary", name)]
        wanted = PROJECT["dependencies"] + of_extras(*extras.strip("[]").split(","))
        done = resolve(tmp_path, "\n".join(wanted), *options)
        assert done.returncode == 0, f"{extras}: {done.stderr}"


@pytest.mark.parametrize(
    ("readme", "language", "picture"), [("README.md", "en", "growth.png"), ("README_zh.md", "zh", "growth-zh.png")]
)
def test_the_readmes_picture_is_the_recorded_one(readme, language, picture):
    """A picture of another run would contradict the lesson it stands for."""
    assert f"docs/images/{picture}" in (ROOT / readme).read_text(encoding="utf-8")
    outputs = by_id(read(lesson_path(ROOT, language, "01_evaluation"), ROOT))["growth"].outputs
    [recorded] = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert (ROOT / "docs/images" / picture).read_bytes() == base64.b64decode(recorded)


def test_the_readmes_script_gives_the_figures_of_lesson_03():
    """A reader who copies it would get other numbers than the lessons, as from another line of relevance."""
    [script] = re.findall(r"```python\n(.+?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    names: dict = {}
    exec(script, names)
    notebook = read(lesson_path(ROOT, "en", "03_model_comparison"), ROOT)
    figures = notebook_figures(notebook)
    for metric, value in names["result"].mean.items():
        assert agrees(figures[f"pocket/MiniLM, mean/{metric}"], str(value)), metric
