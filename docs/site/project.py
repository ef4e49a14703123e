"""What the build and the Sphinx extensions know of a checkout: addresses, pages and lessons, the words around them."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

from notebooks.kit.labels import labels
from notebooks.kit.listed import home
from notebooks.kit.listed import read_yaml as read_yaml
from notebooks.kit.markdown import COMMENT, headings, prose
from notebooks.kit.notebooks import LANGUAGES, lesson_names, lesson_path, read

if TYPE_CHECKING:
    from sphinx.application import Sphinx  # takes seconds, and a build needs it in other processes only

MARKS = re.compile(r"<!--\s*(?:(?:fig|calc|nofig|holds|twin):.*?-->|translation of .*?-->[ \t]*)")
CODES = {"en": "en", "zh": "zh-CN"}
WORDS_A_MINUTE, CODE_A_MINUTE = 130, 480  # code in characters, without white space
PART = re.compile(r"^## ", re.M)  # where a part of a lesson begins


class DocsError(Exception):
    """Something in pages or lessons that must not be published; the message names it and says what to do."""


@dataclass(frozen=True)
class Addresses:
    """Where the project lives: repository and site (with a slash at the end); its version.

    `tag` is what launch buttons, install lines and source links name: that of the newest release, or the branch main.
    """

    repository: str
    site: str
    version: str
    tag: str

    @property
    def slug(self) -> str:
        """Owner and name of the repository, as launch buttons and actions write them."""
        return self.repository.removeprefix("https://github.com/")

    def file(self, path: str) -> str:
        """The address of a file."""
        return f"{self.repository}/blob/{self.tag}/{path}"


@cache
def _read(path: Path, root: Path, _changed: int) -> NotebookNode:
    """Read a notebook, again only when it was changed."""
    return read(path, root)


@cache
def addresses(root: Path) -> Addresses:
    """Read the addresses from pyproject.toml, their one place. Raises DocsError if one is missing."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls = project.get("urls", {})
    missing = {"Repository", "Documentation"} - set(urls)
    if missing:
        raise DocsError(f"pyproject.toml, [project.urls]: no {' and no '.join(sorted(missing))}")
    return Addresses(home(root)[0], urls["Documentation"].rstrip("/") + "/", project["version"], home(root)[1])


def slugs(titles: list[str]) -> list[str]:
    """Return an anchor for each title: letters and digits joined by `-`, no number first, repeated ones numbered."""
    anchors: list[str] = []
    for title in titles:
        slug = re.sub(r"[^a-z0-9]+", "-", COMMENT.sub("", title).lower()).strip("-")
        slug = re.sub(r"^\d+-", "", slug)
        slug = f"section-{slug}".rstrip("-") if not slug or slug[0].isdigit() else slug
        number = 1 + sum(re.fullmatch(rf"{re.escape(slug)}(?:-\d+)?", other) is not None for other in anchors)
        anchors.append(slug if slug not in anchors else f"{slug}-{number}")
    return anchors


def as_json(data: object) -> str:
    """Return data as a script tag that a page can hold."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json">{text}</script>'


def notes(root: Path) -> Any:
    """What docs/lessons.yml says of each lesson, and the words that the site adds in each language.

    Raises DocsError if an entry of a lesson has another key than a language: a comma ends a text without quotes.
    """
    said = read_yaml(root / "docs" / "lessons.yml")
    for lesson, entries in said["lessons"].items():
        for key, texts in entries.items():
            if other := set(texts) - set(LANGUAGES):
                raise DocsError(f"docs/lessons.yml, {lesson}, {key}: put the text before {min(other)!r} in quotes")
    return said


def site_words(language: str) -> dict[str, Any]:
    """The words that the site adds around pages (words.yml beside this file)."""
    return dict(read_yaml(Path(__file__).with_name("words.yml"))[language])


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "---") -> str:
    """Return a Markdown table; align is how the columns after the first are."""
    lines = [head, ["---", *[align] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True)
class Edition:
    """One language of the site of a checkout."""

    root: Path
    language: str

    @classmethod
    def of(cls, app: Sphinx) -> Edition:
        """Return the edition that a run of Sphinx builds."""
        return cls(Path(app.confdir).parents[1], str(app.config.language)[:2])

    @property
    def words(self) -> dict[str, Any]:
        """The words that the site adds to pages and lessons."""
        return dict(notes(self.root)["words"][self.language])

    def about(self, lesson: str, key: str) -> str:
        """Return what docs/lessons.yml says of a lesson under a key, an empty string if nothing."""
        return str(notes(self.root)["lessons"].get(lesson, {}).get(key, {}).get(self.language, ""))

    def numbered(self, name: str, title: str) -> str:
        """Return the title of a page, for a lesson with its number before it."""
        if name not in lesson_names(self.root):
            return title
        return f"{self.words['lesson'].format(int(name[:2]))} · {title}"

    def label(self, english: str) -> str:
        """Return a label of a figure in this language; one that docs/labels.yml does not have stays."""
        return str(labels(self.root)["labels"].get(english, english)) if self.language == "zh" else english

    def lesson(self, name: str) -> NotebookNode:
        """Return the notebook of a lesson, the same one each time; what changes it makes a copy."""
        path = lesson_path(self.root, self.language, name)
        return _read(path, self.root, path.stat().st_mtime_ns)

    def source(self, name: str) -> Path:
        """Return the file that a page or lesson is made from; there is none for the pages that Sphinx writes."""
        if name in lesson_names(self.root):
            return lesson_path(self.root, self.language, name)
        return self.root / "docs" / self.language / f"{name}.md"

    def texts(self, name: str) -> list[str]:
        """Return the Markdown texts of a page or lesson."""
        source = self.source(name)
        if source.suffix == ".ipynb":
            return [cell.source for cell in self.lesson(name).cells if cell.cell_type == "markdown"]
        return [source.read_text(encoding="utf-8")] if source.exists() else []

    def headings(self, name: str) -> list[str]:
        """Return the headings of a page or lesson."""
        return [title for text in self.texts(name) for title in headings(text)]

    def minutes(self, name: str) -> int:
        """Return the minutes it takes to read a lesson and its code, rounded up to five."""
        return 5 * math.ceil(sum(self.parts(name)) / 5)

    def parts(self, name: str) -> list[float]:
        """Return the minutes it takes to read what is above the first part of a lesson, and each part."""
        parts = [0.0]
        for cell in self.lesson(name).cells:
            if cell.cell_type == "code":
                parts[-1] += len("".join(cell.source.split())) / CODE_A_MINUTE
                continue
            above, *below = (len(prose(text).split()) / WORDS_A_MINUTE for text in PART.split(cell.source))
            parts[-1] += above
            parts += below
        return parts

    def address_of(self, target: str, page: str) -> str:
        """Return where a link of a page or lesson leads: on disk it leads to a file, on the site to a page.

        The address is relative to this language's folder; empty if the link does not lead to a file of the checkout.
        """
        path, sign, anchor = target.partition("#")
        file = (self.source(page).parent / path).resolve()
        if not path or re.match(r"[a-z]+:", path) or not file.exists() or not file.is_relative_to(self.root.resolve()):
            return ""
        inside = file.relative_to(self.root.resolve())
        if len(inside.parts) == 3 and inside.parts[0] in ("docs", "notebooks") and inside.parts[1] in LANGUAGES:
            folder = "" if inside.parts[1] == self.language else f"../{inside.parts[1]}/"
            return f"{folder}{file.stem}.html{sign}{anchor}"
        return addresses(self.root).file(inside.as_posix()) + sign + anchor
