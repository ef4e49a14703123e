"""Build the documentation site: `python -m docs.build` writes docs/_build/html/, a folder to copy to any server.

Both languages are staged (docs/stage.py), built by Sphinx with warnings as errors, made to need nothing but their own
files (docs/finish.py), joined with the page that picks a language, and every link and anchor is followed. Nothing is
executed and the old site stays in place until the new one is whole. Building twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path

from docs.finish import check_links, finish, replace_site
from docs.stage import Addresses, DocsError, addresses, problems, stage, standing_alone
from tests.tools.notebooks import LANGUAGES, ROOT, dumps, lesson_names, lesson_path

STATIC = Path(__file__).parent


def sphinx(root: Path, language: str, work: Path) -> subprocess.Popen:
    """Start Sphinx for one language over the staged sources; warnings are errors."""
    source, target = work / language, work / "html" / language
    environment = os.environ | {
        "DOCS_LANGUAGE": language, "DOCS_SOURCE": str(source), "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "0",
        "PYTHONPATH": os.pathsep.join([str(root), str(ROOT)]),
    }  # fmt: skip
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-c", str(root / "docs")]
    return subprocess.Popen(
        [*command, "-d", str(work / "doctrees" / language), str(source), str(target)],
        env=environment, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def downloads(root: Path, target: Path) -> None:
    """Write every lesson as .ipynb, .py and .html to en/downloads and zh/downloads below target."""
    import nbformat
    from nbconvert import HTMLExporter, PythonExporter

    page = (STATIC / "download.html").read_text(encoding="utf-8")
    to_python, to_html = PythonExporter(), HTMLExporter(template_name="basic", exclude_anchor_links=True)
    for language in LANGUAGES:
        folder = target / language / "downloads"
        folder.mkdir(parents=True, exist_ok=True)
        for name in lesson_names(root):
            source = lesson_path(root, language, name)
            shutil.copyfile(source, folder / source.name)
            code, _ = to_python.from_filename(str(source))
            (folder / f"{name}.py").write_text(code, encoding="utf-8", newline="\n")
            book = nbformat.reads(dumps(standing_alone(name, root, language)), as_version=4)
            body, _ = to_html.from_notebook_node(book)
            text = page.replace("%language%", {"en": "en", "zh": "zh-CN"}[language]).replace("%title%", name)
            (folder / f"{name}.html").write_text(text.replace("%body%", body), encoding="utf-8", newline="\n")


def root_files(root: Path, target: Path) -> None:
    """Write what lies beside the two languages: the start page, that for a wrong address, a picture, the sitemap."""
    where: Addresses = addresses(root)
    base = "/" + where.site.split("/", 3)[3]
    for path in sorted((STATIC / "_root").iterdir()):
        text = path.read_text(encoding="utf-8").replace("%base%", base).replace("%site%", where.site)
        (target / path.name).write_text(text, encoding="utf-8")
    shutil.copyfile(root / "docs" / "images" / "growth.png", target / "growth.png")
    (target / ".nojekyll").write_text("", encoding="utf-8")
    (target / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {where.site}sitemap.xml\n", encoding="utf-8")
    left_out = ("search", "genindex", "py-modindex")
    pages = [p.stem for p in sorted((target / "en").glob("*.html")) if p.stem not in left_out]
    names = {"en": "en", "zh": "zh-CN"}
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"']
    lines[-1] += ' xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    for page in pages:
        spots = {code: escape(f"{where.site}{code}/{page}.html") for code in LANGUAGES}
        links = [f'<xhtml:link rel="alternate" hreflang="{names[c]}" href="{u}"/>' for c, u in spots.items()]
        lines += [f"<url><loc>{url}</loc>{''.join(links)}</url>" for url in spots.values()]
    (target / "sitemap.xml").write_text("\n".join([*lines, "</urlset>", ""]), encoding="utf-8")


def build(root: Path, output: Path) -> list[str]:
    """Build the site of a checkout into the folder output and return the external links it has.

    Raises DocsError, with one line for each thing found, if anything must not be published.
    """
    if found := problems(root):
        raise DocsError("\n".join(found))
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for language in LANGUAGES:
            stage(root, language, work / language)
        runs = {language: sphinx(root, language, work) for language in LANGUAGES}
        downloads(root, work / "extra")
        said = {language: run.communicate()[0] for language, run in runs.items()}
        for language, run in runs.items():
            if run.returncode:
                text = said[language].replace(str(work / language), f"docs/{language}")
                raise DocsError(f"Sphinx, {language}:\n{text.strip()}")
        html = work / "html"
        shutil.rmtree(html / "jupyter_execute", ignore_errors=True)
        shutil.copytree(work / "extra", html, dirs_exist_ok=True)
        root_files(root, html)
        finish(html)
        external, broken = check_links(html, addresses(root).site)
        if broken:
            raise DocsError("\n".join(broken))
        replace_site(html, output)
    return external


def main(arguments: list[str] | None = None) -> int:
    """Run the build and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m docs.build", description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to build (this one)")
    parser.add_argument("--output", type=Path, help="where to put the site (docs/_build/html)")
    parser.add_argument("--external", action="store_true", help="also ask the network whether external links answer")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    output = options.output or root / "docs" / "_build" / "html"
    start = time.perf_counter()
    try:
        external = build(root, output)
    except DocsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    (output.parent / "external-links.txt").write_text("".join(f"{url}\n" for url in external), encoding="utf-8")
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    print(f"{output}: {size / 1e6:.1f} MB in {time.perf_counter() - start:.0f} s, {len(external)} external links")
    if options.external:
        from docs.finish import unreachable

        gone = unreachable(external)
        print("".join(f"no answer: {line}\n" for line in gone), end="")
        return int(bool(gone))
    return 0


if __name__ == "__main__":
    sys.exit(main())
