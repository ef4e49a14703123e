"""The files that GitHub reads, and the page that says where to change what."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.built_site import built

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def workflow(name: str) -> dict:
    """Return a workflow; its key `on` is read as true, as YAML has it."""
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    """Whoever moves a tag of an action would run code in the workflow, with the workflow's rights."""
    used = re.findall(r"uses: *(.+)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        local = re.fullmatch(r"\./\.github/workflows/[a-z]+\.yml", action)
        pinned = re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
        assert local or pinned, f"{action}: name the full commit, and its version in a comment"
    for step in [step for job in workflow(path.name)["jobs"].values() for step in job.get("steps", [])]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, "a package could read the token from the checkout"


def test_rights_of_the_workflows_are_the_least():
    """A job that runs packages could publish, or the job that publishes could run them."""
    assert workflow("tests.yml")["permissions"] == {"contents": "read"}
    pages = workflow("pages.yml")
    build, deploy = pages["jobs"]["build"], pages["jobs"]["deploy"]
    assert pages["permissions"] == {}
    assert build["permissions"] == pages["jobs"]["tests"]["permissions"] == {"contents": "read"}
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert [step.get("uses", "").split("@")[0] for step in deploy["steps"]] == ["actions/deploy-pages"]


def test_the_site_is_published_after_the_tests_and_from_hashes():
    """A site of a broken release, or one made by a package that was swapped on the index, would be published."""
    jobs = workflow("pages.yml")["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert (jobs["build"]["needs"], jobs["deploy"]["needs"]) == ("tests", "build")
    scripts = "".join(step.get("run", "") for step in jobs["build"]["steps"])
    installs = [line for line in scripts.splitlines() if "pip install" in line]
    assert installs
    assert all("--require-hashes" in line and "--only-binary :all:" in line for line in installs)
    assert "--no-build-isolation" in installs[-1], "a package built from source would fetch its tools without a hash"
    assert "make " not in scripts, "make installs from the lock without hashes"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the lock of the published site is for Linux")
def test_the_published_site_is_the_tested_one(tmp_path):
    """A package that the build needs would be missing from its lock, or a hash wrong, when a release is published.

    A rebuild would give other bytes, and nobody could see what a change did to the site.
    """
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    path = os.pathsep.join([str(tmp_path / "venv" / "bin"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "RUNNER_TEMP": str(tmp_path), "PYTHONPATH": ""}
    for step in workflow("pages.yml")["jobs"]["build"]["steps"]:
        if "run" in step:
            script = step["run"].replace("docs.site --browser", f"docs.site --output '{tmp_path}/site/html' --browser")
            done = subprocess.run(
                ["bash", "-e", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr[-3000:]
    pages = [{p.relative_to(top): p.read_bytes() for p in top.rglob("*") if p.is_file()}
             for top in (built(), tmp_path / "site" / "html")]  # fmt: skip
    assert pages[0].keys() == pages[1].keys()
    assert [name for name, content in pages[0].items() if content != pages[1][name]] == []


def test_the_citation_file_says_what_the_package_and_the_page_say():
    """A paper would cite another version, title or address."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == PROJECT["authors"]
    assert (cited["repository-code"], cited["url"]) == tuple(PROJECT["urls"].values())
    for language in ("en", "zh"):
        page = (ROOT / "docs" / language / "references.md").read_text(encoding="utf-8")
        assert f"title = {{{cited['title']}}}" in page
