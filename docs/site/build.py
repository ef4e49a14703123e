"""Build the documentation site: both languages, a folder to copy to any server.

Pages and lessons are put into one folder a language, built by Sphinx with warnings as errors (conf.py and the
extensions that it names; the last, finish.py, makes pages need nothing but their own files), joined with the page that
picks a language, and every link and anchor is followed. Nothing is executed and the old site stays in place until the
new one is whole. Building twice gives the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Template

from docs.site import dense, programs
from docs.site.links import check_links
from docs.site.project import CODES, MARKS, DocsError, Edition, addresses
from docs.site.pyodide import FOLDER, add_pyodide
from docs.site.report import source
from notebooks.kit.check import check
from notebooks.kit.labels import missing_labels
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names

STOPPING = {"missing", "unreadable", "error", "extra", "structure", "untranslated", "headings"}


def problems(root: Path) -> list[str]:
    """Return what stops a build: twins missing or unlike, error outputs, words left in English."""
    faults = [str(p) for p in check(root, numbers=False) if p.rule in STOPPING and not p.file.startswith("README")]
    return faults or missing_labels(root)


def stage(root: Path, language: str, target: Path) -> None:
    """Put what Sphinx reads of one language into the folder target."""
    target.mkdir(parents=True)
    for pattern in (f"docs/{language}/*.md", f"notebooks/{language}/*.ipynb"):
        for path in root.glob(pattern):
            text = path.read_text(encoding="utf-8")
            (target / path.name).write_text(MARKS.sub("", text) if path.suffix == ".ipynb" else text, encoding="utf-8")


def sphinx(root: Path, language: str, work: Path, browser: bool) -> subprocess.Popen[str]:
    """Start Sphinx for one language over the staged sources; warnings are errors."""
    source = work / language
    environment = os.environ | {
        "DOCS_LANGUAGE": language,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(root), str(ROOT)]),
        "SOURCE_DATE_EPOCH": "0",
    }
    options = ["-b", "html", "-q", "-W", "--keep-going", "-c", str(root / "docs" / "site")]
    options += ["-t", FOLDER] if browser else []
    folders = ["-d", str(work / "doctrees" / language), str(source), str(work / "html" / language)]
    command = [sys.executable, "-m", "sphinx", *options, *folders]
    return subprocess.Popen(
        command, env=environment, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def write_pages(root: Path, work: Path, browser: bool) -> None:
    """Write the pages below work / "html" and the downloads below work / "extra", all at the same time.

    Raises DocsError if anything must not be published.
    """
    runs = {language: sphinx(root, language, work, browser) for language in LANGUAGES}
    try:
        if faults := problems(root):
            raise DocsError("\n".join(faults))
        downloads(root, work / "extra")
        messages = {language: run.communicate()[0] for language, run in runs.items()}
    finally:
        for run in runs.values():
            run.kill()  # nothing, where it has ended
            run.wait()
    for language, run in runs.items():
        if run.returncode:
            text = messages[language].replace(str(work / language), f"docs/{language}")
            raise DocsError(f"Sphinx, {language}:\n{text.strip()}")


def downloads(root: Path, target: Path) -> None:
    """Write every lesson, and the recorded report, to en/downloads and zh/downloads below target."""
    for edition in (Edition(root, language) for language in LANGUAGES):
        folder = target / edition.language / "downloads"
        folder.mkdir(parents=True)
        if source(edition).exists():
            shutil.copyfile(source(edition), folder / "report.html")
        for name in lesson_names(root):
            shutil.copyfile(edition.source(name), folder / f"{name}.ipynb")


def root_files(root: Path, target: Path) -> None:
    """Write what lies beside the two languages: the start page, that for a wrong address, a picture, lists of pages."""
    where, site = addresses(root), addresses(root).site
    pages = sorted({path.name for path in (target / "en").glob("*.html")} - {"search.html", "genindex.html"})
    for path in (root / "docs" / "site" / "_root").iterdir():
        if path.suffix == ".png":
            shutil.copyfile(path, target / path.name)
            continue
        text = Template(path.read_text(encoding="utf-8"), keep_trailing_newline=True)
        words = {"repository": where.repository, "tag": where.tag, "markdown": programs.listed(target)}
        filled = text.render(site=site, base=urlsplit(site).path, pages=pages, codes=CODES, **words)
        (target / path.name).write_text(filled, encoding="utf-8")


def replace_site(html: Path, output: Path) -> None:
    """Put the new site in the place of the old one, which stays until the new one is there."""
    new = output.with_name(output.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(html, new)
    shutil.rmtree(output, ignore_errors=True)
    new.rename(output)


def build(root: Path, output: Path, *, browser: Sequence[Path] = ()) -> None:
    """Build the site of a checkout into the folder output.

    browser: where the files of Pyodide are, for the lesson that runs in its page.

    Raises DocsError, with a line for each fault, if anything must not be published.
    """
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        html = work / "html"
        for language in LANGUAGES:
            stage(root, language, work / language)
        if browser:
            add_pyodide(root, browser, html / FOLDER)
        write_pages(root, work, bool(browser))
        for language in LANGUAGES:
            dense.add_model(Edition(root, language), html / language / "_static" / "ask")
        shutil.rmtree(html / "jupyter_execute", ignore_errors=True)
        shutil.copytree(work / "extra", html, dirs_exist_ok=True)
        root_files(root, html)
        if broken := check_links(html, addresses(root).site):
            raise DocsError("\n".join(broken))
        replace_site(html, output)
