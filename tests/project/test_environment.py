"""The ways to the environment agree: pyproject.toml, locks, Makefile and READMEs; what they show is real."""

import base64
import json
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

from notebooks.kit.figures import agrees, notebook_figures
from notebooks.kit.notebooks import lesson_path, read

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LESSONS = "[jupyter,lessons,zh]"
EVERYTHING = "[distributed,docs,jupyter,lessons,test,zh]"


PYTHONS = ["3.11", "3.12", "3.13"]
PLATFORMS = ["x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"]


def requirements() -> list[Requirement]:
    """Return every requirement of the package and of its extras."""
    return [Requirement(line) for line in PROJECT["dependencies"] + of_extras(*PROJECT["optional-dependencies"])]


def of_extras(*names: str) -> list[str]:
    """Return what extras bring, and what the extras of this package that they name bring."""
    own = PROJECT["name"]
    lines = [line for name in names for line in PROJECT["optional-dependencies"][name]]
    named = [line.removeprefix(f"{own}[").rstrip("]") for line in lines if line.startswith(own)]
    return [line for line in lines if not line.startswith(own)] + (of_extras(*named) if named else [])


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


def test_torch_is_one_whose_restricted_loader_holds():
    """Before 2.6 a pickle of a stranger could run code in spite of ``weights_only`` (CVE-2025-32434)."""
    torch = next(requirement for requirement in requirements() if canonicalize_name(requirement.name) == "torch")
    assert not torch.specifier.contains("2.5.1")
    assert not torch.specifier.contains("2.5.99+cpu")
    assert torch.specifier.contains("2.6.0")


def test_lock_names_no_build_and_no_address():
    """A local build tag or an index address would fail on every other machine."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.!]+(\.post\d+)?", line) for line in text.split())


def test_installed_versions_are_the_locked_ones():
    """The recorded outputs belong to the locked versions; tests of others would prove nothing about them."""
    pins = locked()
    here = [requirement for requirement in requirements() if not requirement.marker or requirement.marker.evaluate()]
    for requirement in here:
        assert version(requirement.name).split("+")[0] == pins[canonicalize_name(requirement.name)], requirement


def hashed() -> dict[str, str]:
    """Return the lock of the published site: canonical name to version, after a look at the form of each line."""
    text = (ROOT / ".github" / "pages-requirements.txt").read_text(encoding="utf-8")
    entries = re.sub(r"#.*\n", "", text).replace("\\\n", " ").strip().split("\n")
    pins = {}
    for entry in entries:
        pin, *digests = entry.split()
        assert re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", pin), entry
        assert digests, f"{pin} has no hash"
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", digest) for digest in digests), pin
        name, version_ = pin.split("==")
        pins[name] = version_
    return pins


def test_the_published_site_is_built_from_the_locked_versions():
    """The published pages would be made by other versions than the tested ones: run `make lock`."""
    pins, known = hashed(), locked()
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
    assert (
        subprocess.run([*command, "MODEL=my mine", "REPORT_OPTIONS=--a b"], cwd=ROOT, capture_output=True).returncode
        == 0
    )


def resolve(folder: Path, requirements: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Let uv choose versions for requirements, from the index that pip is configured for, as the Makefile does."""
    pip = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    index = os.environ.get("PIP_INDEX_URL") or subprocess.run(pip, capture_output=True, text=True).stdout.strip()
    environment = {"UV_DEFAULT_INDEX": index, "MACOSX_DEPLOYMENT_TARGET": "14.0"} | os.environ
    wanted = folder / "requirements.in"
    wanted.write_text(requirements, encoding="utf-8")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *options, str(wanted)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where no package index can be reached."""
    if resolve(tmp_path_factory.mktemp("index"), "uv", "--refresh").returncode:
        pytest.skip("no package index can be reached")


@pytest.mark.slow
@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_installs_on_every_machine_that_the_readme_names(python: str, platform: str, tmp_path: Path):
    """A reader with the first release of a Python, or another processor, would get no environment from the lock."""
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
    notebook = json.loads((ROOT / "notebooks" / language / "01_evaluation.ipynb").read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "growth")
    [recorded] = [o["data"]["image/png"] for o in cell["outputs"] if "image/png" in o.get("data", {})]
    recorded = recorded if isinstance(recorded, str) else "".join(recorded)
    assert (ROOT / "docs/images" / picture).read_bytes() == base64.b64decode(recorded)


def test_the_readmes_script_gives_the_figures_of_lesson_03():
    """A reader who copies it would get other numbers than the lessons, as from another line of relevance."""
    [script] = re.findall(r"```python\n(.+?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    names: dict = {}
    exec(script.replace("\nprint(evaluate(", "\nmean = (evaluate("), names)
    notebook = read(lesson_path(ROOT, "en", "03_model_comparison"), ROOT)
    figures = notebook_figures(notebook)
    for metric, value in names["mean"].items():
        assert agrees(figures[f"pocket/MiniLM, mean/{metric}"], str(value)), metric
