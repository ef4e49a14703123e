"""Chinese twins in prose: the bundled collection's Chinese for a query or passage that an output shows in English.

`<!--twin:q121-->TEXT` in a Chinese text: TEXT is that query in Chinese, or the Chinese title of that passage
(`<!--twin:p706-->`), word for word. In a lesson one of its outputs has to show the query or title as well, so that
prose about the failures of an earlier recording is found.
"""

import html
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from nbformat import NotebookNode

from .cells import code_cells, output_texts
from .markdown import without_code
from .notebooks import LANGUAGES, Problem

COLLECTION = Path("helpers", "data", "bundled", "pocket")  # below the root of a checkout
_FIELDS = {"queries": "text", "corpus": "title"}
_TWIN = re.compile(r"<!--\s*twin:\s*(?P<id>[\w-]+)\s*-->")
_ANY = re.compile(r"<!--\s*twin\b(?:(?!-->).)*(?:-->)?", re.S)
_HIDES = re.compile(r"(?:^|\n)[ \t]*(?:(?:[-*+>]|\d+[.)])[ \t]+)*$")  # a comment after this hides its whole line


@lru_cache(maxsize=8)
def collection(root: Path) -> dict[str, tuple[str, str]]:
    """Return the English and the Chinese of every query and every passage title by id; none without the files."""
    texts: dict[str, dict[str, str]] = {}
    for kind, field in _FIELDS.items():
        for language in LANGUAGES:
            path = root / COLLECTION / f"{kind}.{language}.jsonl"
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            for row in map(json.loads, lines):
                texts.setdefault(row["id"], {})[language] = row[field]
    return {key: (both["en"], both["zh"]) for key, both in texts.items() if len(both) == len(LANGUAGES)}


def without_twins(text: str, root: Path) -> str:
    """Return a text without its twins: the collection answers for their words and numbers."""
    known = collection(root)
    pieces, end = [], 0
    for match in _TWIN.finditer(text):
        pieces.append(text[end : match.start()])
        twin = known.get(match["id"], ("", ""))[1]
        end = match.end() + (len(twin) if text.startswith(twin, match.end()) else 0)
    return "".join(pieces) + text[end:]


def _fault(text: str, match: re.Match[str], known: dict[str, tuple[str, str]], shown: str | None) -> str:
    """Return the fault of one marker of a text and the remedy, empty if there is none."""
    marker = _TWIN.fullmatch(match[0])
    if not marker:
        return f"'{' '.join(match[0].split())[:40]}' is no marker: write <!--twin:ID--> before the Chinese text"
    if _HIDES.search(text[: match.start()]):
        return f"'{match[0]}' begins a line, which hides the line: put a word or a quotation mark before it"
    if marker["id"] not in known:
        return f"{COLLECTION.as_posix()} has no '{marker['id']}' in both languages: give the id of a query or passage"
    english, chinese = known[marker["id"]]
    if not text.startswith(chinese, match.end()):
        actual = text[match.end() : match.end() + len(chinese)].split("\n")[0]
        return f"after {match[0]} stands '{actual}', the collection has '{chinese}': copy it from there"
    if shown is not None and english not in shown and chinese not in shown:
        return f"no output of this lesson shows '{english}' ({marker['id']}): name what the outputs show now"
    return ""


def text_problems(text: str, file: str, cell: str, root: Path, shown: str | None = None) -> Iterator[Problem]:
    """Yield every twin of a Chinese text that is not the collection's; shown are the outputs of its lesson."""
    marked = without_code(text)
    for match in _ANY.finditer(marked):
        fault = _fault(marked, match, collection(root), shown)
        if fault:
            yield Problem(file, cell, "twin", fault)


def notebook_problems(notebook: NotebookNode, file: str, root: Path) -> Iterator[Problem]:
    """Yield the problems of the twins in a Chinese lesson."""
    shown = html.unescape("\n".join(text for cell in code_cells(notebook) for text in output_texts(cell)))
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from text_problems(cell.source, file, cell.id, root, shown)
