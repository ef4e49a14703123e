"""The check before a release: a dead address is told, whichever way it is written."""

import re
import subprocess

import pytest

from tests.release import INSTALL, dead, targets

SLUG = "owner/name"
ALIVE = """
<a href="https://colab.research.google.com/github/owner/name/blob/main/notebooks/en/01.ipynb">
<a href="https://mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/notebooks/en/01.ipynb">
[source](https://github.com/owner/name/blob/main/notebooks/en/01.ipynb#L3-L4), https://github.com/owner/name/tree/main/notebooks/
- uses: owner/name/.github/actions/gate@main
"""


@pytest.fixture
def clone(tmp_path):
    """A repository with what ALIVE names."""
    for name in ("notebooks/en/01.ipynb", ".binder/environment.yml", ".github/actions/gate/action.yml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for step in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *step], cwd=tmp_path, check=True)
    return tmp_path


def test_dead_addresses_are_told(clone):
    """A visitor would click a launch button and be told that the file, or the tag, does not exist."""
    assert len(targets(ALIVE, SLUG)) == 4
    assert dead({"page": ALIVE}, clone, SLUG) == []
    for old, new, said in (
        ('blob/main/notebooks/en/01.ipynb"', 'blob/v1/notebooks/en/01.ipynb"', "notebooks/en/01.ipynb is not at v1"),
        ("name/main?", "name/v2?", ".binder/environment.yml is not at v2"),
        ("01.ipynb#L3", "02.ipynb#L3", "notebooks/en/02.ipynb is not at main"),
        ("gate@main", "gate@v3", ".github/actions/gate/action.yml is not at v3"),
    ):
        assert f"page: {said}" in dead({"page": ALIVE.replace(old, new)}, clone, SLUG)


def test_install_lines_are_found_as_pages_write_them():
    """An install line would not be followed, and nobody would notice."""
    line = 'python -m pip install --quiet "name[runs] @ git+https://github.com/owner/name@main"'
    assert re.findall(INSTALL, line) == ["name[runs] @ git+https://github.com/owner/name@main"]
