"""Follow what a visitor follows, before anything is published: `make release-check`, on the built site.

The last commit is served by git on this machine in the place of the address in pyproject.toml. Every address of the
project in README and site has to lead to a file of it, every line that installs from it is resolved, and base, extra
and the first cell of a lesson (with PyTorch, gigabytes) are installed into an empty environment. What is left for a
person comes last.
"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from notebooks.kit.cells import code_cells
from notebooks.kit.listed import home
from notebooks.kit.notebooks import ROOT, lesson_path, read

LESSON = "02_metrics"
BUTTON = r"(?:colab\.research\.google\.com/github|github\.com)/{0}/(?:blob|tree|raw|edit)/([^/\s\"]+)/([^\s\"#?<)]+)"
BINDER = r"mybinder\.org/v2/gh/{0}/([^?\s\"]+)\?urlpath=lab/tree/([^\s\"#<)]+)"
ACTION = r"uses: {0}/(\S+)@(\S+)"
INSTALL = r"pip install (?:-\S+ )*\"?([\w.-]+(?:\[[\w,-]+\])? @ git\+[^\s\"<]+)"
PROBES = {"": "retrieval-acid helpers.metrics:evaluate", "[runs]": "retrieval-report --help"}


def texts(site: Path, root: Path = ROOT) -> dict[str, str]:
    """README files and pages of the site, as a browser shows their code: without marks inside it."""
    pages = {p.name: p.read_text(encoding="utf-8") for p in (*root.glob("README*.md"), *site.glob("*.md"))}
    for path in sorted(p for p in site.rglob("*.html") if "_static" not in p.parts):
        pages[path.relative_to(site).as_posix()] = unescape(re.sub("</?span[^>]*>", "", path.read_text("utf-8")))
    return pages


def targets(text: str, slug: str) -> set[tuple[str, str]]:
    """Branch or tag, and path, of each address of the project in a text."""
    name = re.escape(slug)
    found = {*re.findall(BUTTON.format(name), text), *re.findall(BINDER.format(name), text)}
    found |= {(at, ".binder/environment.yml") for at, _ in re.findall(BINDER.format(name), text)}
    return found | {(at, f"{path}/action.yml") for path, at in re.findall(ACTION.format(name), text)}


def dead(pages: dict[str, str], clone: Path, slug: str) -> list[str]:
    """A line for each address that leads to no file of the clone."""
    files = {}
    for at in {at for text in pages.values() for at, _ in targets(text, slug)}:
        listed = subprocess.run(["git", "ls-tree", "-rt", "--name-only", "-z", at], cwd=clone, capture_output=True)
        files[at] = set(listed.stdout.decode().split("\0"))
    return sorted(
        f"{page}: {path} is not at {at}"
        for page, text in pages.items() for at, path in targets(text, slug) if path.rstrip("/") not in files[at]
    )  # fmt: skip


@contextmanager
def served(folder: Path, repository: str) -> Iterator[dict[str, str]]:
    """Serve the last commit as the repository's main, and the tag of pyproject.toml; gives git's environment for it."""
    at, path = home(ROOT)[1], urlsplit(repository).path
    git = ["git", "-c", "safe.directory=*"]
    clone = folder / path.lstrip("/")
    subprocess.run([*git, "clone", "--quiet", "--bare", ROOT, clone], check=True)
    for ref in ("refs/heads/main", *([f"refs/tags/{at}"] if at != "main" else [])):
        subprocess.run([*git, "update-ref", ref, "HEAD"], cwd=clone, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*git, "daemon", "--export-all", f"--base-path={folder}", "--listen=127.0.0.1", f"--port={port}", folder]
    daemon = subprocess.Popen(command)
    try:
        time.sleep(1)
        settings = {f"url.git://127.0.0.1:{port}{path}.insteadOf": repository, "safe.directory": "*"}
        named = {f"GIT_CONFIG_{part}_{n}": text for n, pair in enumerate(settings.items())
                 for part, text in zip(("KEY", "VALUE"), pair, strict=True)}  # fmt: skip
        yield {"GIT_CONFIG_COUNT": str(len(settings)), **named}
    finally:
        daemon.terminate()
        daemon.wait()


def tried(folder: Path, environment: dict[str, str], *steps: list[str], cell: str = "") -> str:
    """Run steps in a new environment in an empty folder, the code of a cell last; return what failed."""
    venv.create(folder / "env", with_pip=True)
    (folder / "empty").mkdir()
    (folder / "empty" / "cell.py").write_text(cell, encoding="utf-8")
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")} | environment
    for step in (*steps, ["python", "cell.py"]):
        command = [str(programs / step[0]), *step[1:]]
        done = subprocess.run(command, cwd=folder / "empty", env=own, capture_output=True, text=True)
        if done.returncode:
            return f"{shlex.join(step)}: {(done.stderr or done.stdout).strip()[-600:]}"
    return ""


def left() -> list[str]:
    """What only a person can do."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version, (repository, at) = f"v{settings['project']['version']}", home(ROOT)
    tags = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    reached = subprocess.run(["git", "ls-remote", "--exit-code", repository], capture_output=True, timeout=60,
                             env=os.environ | {"GIT_TERMINAL_PROMPT": "0"})  # fmt: skip
    steps = {
        f'tag: write tag = "{version}" in pyproject.toml, run `python -m notebooks.kit sync`, commit': at == "main",
        f"tag: git tag {at} && git push origin {at}": at != "main" and at not in tags,
        f"address: {repository} does not answer: publish there, or change [project.urls]": reached.returncode != 0,
        "DOI: archive the release (Zenodo), write its `doi:` into CITATION.cff": "doi"
        not in yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")),
    }
    return [step for step, needed in steps.items() if needed]


def main(site: Path = ROOT / "docs" / "_build" / "html") -> int:
    """Check and say what was found; returns 1 if a line leads nowhere."""
    repository, _ = home(ROOT)
    slug, name = urlsplit(repository).path.strip("/"), "retrieval-evaluation-tutorial"
    pages = texts(site)
    with tempfile.TemporaryDirectory() as scratch, served(Path(scratch, "git"), repository) as git:
        faults = dead(pages, Path(scratch, "git", slug), slug)
        lines = sorted({line for text in pages.values() for line in re.findall(INSTALL, text)})
        dry = [["python", "-m", "pip", "install", "--quiet", "--dry-run", line] for line in lines]
        tries = {f"{len(lines)} install lines of README and site": tried(Path(scratch, "lines"), git, *dry)}
        for extra, probe in PROBES.items():
            install = ["python", "-m", "pip", "install", "--quiet", f"{name}{extra} @ git+{'@'.join(home(ROOT))}"]
            tries[f"the package{extra}"] = tried(Path(scratch, extra or "base"), git, install, probe.split())
        cell = code_cells(read(lesson_path(ROOT, "en", LESSON)))[0].source  # in Chinese it is the same
        tries[f"the first cell of {LESSON}"] = tried(Path(scratch, "lesson"), git, cell=cell)
    faults += [f"{what}: {fault}" for what, fault in tries.items() if fault]
    followed = sum(len(targets(text, slug)) for text in pages.values())
    print(f"{followed} addresses on {len(pages)} pages; {'; '.join(tries)}: {len(faults)} lead nowhere")
    print("\n".join([*faults, "left for a person:", *(f"  {step}" for step in left())]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
