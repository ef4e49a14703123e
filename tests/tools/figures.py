"""Numbers in prose that come from a run: find their markers, resolve the recorded figure, compare as shown.

`<!--fig:CELL/ROW/COLUMN-->0.912` quotes a cell of a displayed table, `<!--fig:CELL/NAME-->0.912` a printed line
`NAME = value` or `NAME: value`. Outside notebooks the lesson comes first (`<!--fig:01_evaluation:CELL/...-->`), and
`<!--fig:bench:FILE/KEY/...-->` quotes docs/benchmarks/FILE.json. A number that looks like a result and is cited or
worked out carries `<!--nofig-->`; the same alone on a line covers the paragraph or table that follows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from .markdown import prose, without_code
from .notebooks import ROOT, Node, NotebookError, Problem, code_cells, lesson_path, read
from .tables import AMBIGUOUS, html_tables

_VALUE = r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?"
MARKER = re.compile(r"<!--\s*fig:\s*(?P<name>[^>]*?)\s*-->(?P<value>" + _VALUE + r")(?P<percent>[ \u00a0]?[%％])?")
_BLOCK = re.compile(r"^[ \t]*<!--\s*nofig\s*-->[ \t]*\n(?:.*\S.*(?:\n|\Z))+", re.M)
_CITED = re.compile(r"<!--\s*nofig\s*-->" + _VALUE + r"(?:[ \u00a0]?[%％])?")
_IDLE = re.compile(r"<!--\s*nofig\s*-->(?=\S)(?![-+\u2212]?\.?\d)\S{1,20}")
_NAMED = re.compile(
    r"^\s*(?P<name>\S[^\n]*?)\s*[=:]\s*(?P<value>[-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s?(?P<percent>%)?", re.M
)
_RESULT = re.compile(r"(?<![\w.,])[-+\u2212]?\d*\.\d{2,}(?![\w]|\.\d)|(?<![\w.,])\d+(?:\.\d+)?[ \u00a0]?[%％]", re.A)
_VERSION = re.compile(
    r"(?:python|numpy|pandas|matplotlib|scipy|scikit-learn|pytorch|torch|faiss|sphinx|mathjax|version|v|版本|arxiv)"
    r"[ :]?(?:[≥>=~]+ ?)?\d+\.\d+(?:\.\d+)*(?:(?: (?:to|and|or) |[-–到至、或和])\d+\.\d+)*",
    re.I,
)
_INTERVAL = re.compile(
    r"\d+(?:\.\d+)? ?[%％](?=[ -]?(?:(?:bootstrap|percentile|credible|confidence)[ -]?)*(?:interval|confidence|CI\b)"
    r"|(?:的)?(?:自助法?|百分位)?(?:置信|区间))",
    re.I,
)


def cell_figures(cell: Node) -> dict[str, str]:
    """Return the named figures of a code cell's recorded outputs, as `row/column` or `name`, and their text."""
    found: dict[str, str] = {}
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html", "")
        named = {k: v for table in html_tables(html) for k, v in table.values().items()} if html else {}
        if not html:
            text = output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
            named = {m["name"].strip(): m["value"].rstrip(".,") + (m["percent"] or "") for m in _NAMED.finditer(text)}
        for name, value in named.items():
            found[name] = value if found.get(name, value) == value else AMBIGUOUS
    return found


def notebook_figures(notebook: Node) -> dict[str, str]:
    """Return all named figures of a notebook under `cell-id/...`."""
    return {f"{c.id}/{name}": value for c in code_cells(notebook) for name, value in cell_figures(c).items()}


def _descend(value: object, path: str) -> object:
    """Return what a path of keys leads to in a JSON value; a key may itself hold a slash. Raises KeyError."""
    if not path:
        return value
    if isinstance(value, list):
        value = {str(number): item for number, item in enumerate(value)}
    for key in value if isinstance(value, dict) else ():
        if path == key or path.startswith(f"{key}/"):
            return _descend(value[key], path[len(key) + 1 :])
    raise KeyError(path)


class Figures:
    """The recorded figures of a checkout, read once each."""

    def __init__(self, root: Path = ROOT) -> None:
        """Look for lessons and benchmark files below root."""
        self.root = root
        self._lessons: dict[str, dict[str, str]] = {}

    @cached_property
    def _bench(self) -> dict[str, object]:
        folder = self.root / "docs" / "benchmarks"
        return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}

    def lesson(self, name: str) -> dict[str, str]:
        """Return the figures of the English notebook of a lesson, none if there is no such notebook."""
        if name not in self._lessons:
            try:
                self._lessons[name] = notebook_figures(read(lesson_path(self.root, "en", name), self.root))
            except NotebookError:
                self._lessons[name] = {}
        return self._lessons[name]

    def find(self, name: str, own: dict[str, str] | None = None) -> str:
        """Return the recorded text of a figure; own are the figures of the notebook that quotes it.

        Raises KeyError, whose text says what is wrong, for a figure that is gone or not a single number.
        """
        place = re.match(r"(bench|\d\d_\w+):(.*)", name)
        if place and place[1] == "bench":
            try:
                value = str(_descend(self._bench, place[2]))
            except KeyError:
                raise KeyError(f"docs/benchmarks has no '{place[2]}'") from None
        else:
            known, key = (self.lesson(place[1]), place[2]) if place else (own or {}, name)
            if key not in known:
                cell = key.split("/")[0]
                near = sorted(k for k in known if k.split("/")[0] == cell)
                raise KeyError(f"no recorded figure has that name; cell '{cell}' has {', '.join(near[:8]) or 'none'}")
            value = known[key]
        if _number(value) is None:
            raise KeyError(f"the recorded figure is '{value}', not a number")
        return value


def _number(text: str) -> Decimal | None:
    """Return the number a text shows (`91.2%` is 0.912), or None."""
    text = text.strip().replace(",", "").replace("\u2212", "-").replace("％", "%")
    match = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?) ?(%?)", text)
    return Decimal(match[1]).scaleb(-2 if match[2] else 0) if match else None


def agrees(shown: str, recorded: str) -> bool:
    """Tell whether a number in prose is the recorded one, rounded to the digits shown."""
    one, two = _number(shown), _number(recorded)
    if one is None or two is None:
        return False
    unit = Decimal(1).scaleb(int(one.as_tuple().exponent))
    return abs(one - two) <= unit / 2


def markers(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, number as shown) for each marker in a Markdown text; the number is empty if none follows."""
    for match in MARKER.finditer(without_code(text)):
        yield match["name"], match["value"] + (match["percent"] or "" if match["value"] else "")


def unmarked(text: str) -> list[str]:
    """Return the numbers in the prose of a text that look like results and carry no marker."""
    text = MARKER.sub(" ", _CITED.sub(" ", _BLOCK.sub("\n", text)))
    text = _INTERVAL.sub(" ", _VERSION.sub(" ", prose(text)))
    text = re.sub(r"\d+(?:\.\d+){2,}", " ", text)
    return [match[0].strip() for match in _RESULT.finditer(text)]


def check_text(
    text: str, file: str, cell: str, figures: Figures, own: dict[str, str] | None = None
) -> Iterator[Problem]:
    """Yield what is wrong with the numbers of one Markdown text."""
    for name, shown in markers(text):
        if not shown:
            yield Problem(file, cell, "figure-marker", f"no number follows the marker 'fig:{name}'")
            continue
        try:
            recorded = figures.find(name, own)
        except KeyError as error:
            yield Problem(file, cell, "figure-gone", f"'fig:{name}' before {shown}: {error.args[0]}")
            continue
        if not agrees(shown, recorded):
            message = f"the text says {shown}, 'fig:{name}' is {recorded}: correct the text"
            yield Problem(file, cell, "figure-value", message)
    for number in unmarked(text):
        message = f"{number} looks like a result: put <!--fig:NAME--> before it, or <!--nofig--> if it is none"
        yield Problem(file, cell, "figure-unmarked", message)
    text = without_code(text)
    for idle in _IDLE.findall(text):
        yield Problem(file, cell, "figure-marker", f"'{idle}': no number follows; it covers the number right after it")
    for broken in re.findall(r"<!--\s*(?:fig|nofig)\b(?!\s*-->|:[^>]*?-->)[^>]*>?", text):
        message = f"'{broken.strip()[:40]}' is no marker: <!--fig:NAME--> or <!--nofig-->"
        yield Problem(file, cell, "figure-marker", message)


def notebook_problems(notebook: Node, file: str, figures: Figures) -> Iterator[Problem]:
    """Yield what is wrong with the numbers in the markdown cells of a notebook."""
    own = notebook_figures(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from check_text(cell.source, file, cell.id, figures, own)
