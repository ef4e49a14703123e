"""Numbers and claims in prose that come from a run: find their markers, resolve the recorded figures, compare.

`<!--fig:CELL/ROW/COLUMN-->0.912` quotes a cell of a displayed table, `<!--fig:CELL/NAME-->0.912` a printed line
`NAME = value` or `NAME: value`. Outside notebooks the lesson comes first (`<!--fig:01_evaluation:CELL/...-->`), and
`<!--fig:bench:FILE/KEY/...-->` quotes docs/benchmarks/FILE.json. `<!--calc: EXPR-->0.17` is worked out from figures or
numbers, and `<!--holds: EXPR-->`, behind the words it stands for, is a claim (arithmetic.py has the form of EXPR).
`<!--nofig: SOURCE-->0.41` is cited: SOURCE is a key of the references page, or a reason of several words; the same
alone on a line covers the paragraph or table that follows.
An alternative text takes the same markers; the site shows it without them.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from nbformat import NotebookNode

from .arithmetic import ExpressionError, Number, evaluate
from .cells import code_cells, leaves
from .markdown import without_code
from .notebooks import ROOT, NotebookError, Problem, lesson_path, read
from .tables import table_cells

AMBIGUOUS = "(more than one value has this name)"
_VALUE = r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?"
_BODY = r"(?:(?!-->)[^\n])*?"
_MARKED = re.compile(
    rf"<!--\s*(?P<kind>fig|calc|nofig):\s*(?P<name>{_BODY})\s*-->(?P<value>{_VALUE})(?P<percent>[ \u00a0]?[%％])?"
)
_HOLDS = re.compile(rf"<!--\s*(?P<kind>holds):\s*(?P<name>{_BODY})\s*-->")
_BLOCK = re.compile(rf"^[ \t]*<!--\s*nofig:\s*{_BODY}\s*-->[ \t]*\n(?:.*\S.*(?:\n|\Z))+", re.M)
_ANY = re.compile(r"<!--\s*(?P<kind>fig|calc|nofig|holds)\b(?P<colon>:?)(?P<body>(?:(?!-->).)*)(?P<end>-->)?", re.S)
_FORMS = "<!--fig:NAME-->0.5, <!--calc: EXPR-->0.5, <!--nofig: SOURCE-->0.5 or <!--holds: EXPR-->"
_NAMED = re.compile(
    r"^\s*(?P<name>\S[^\n]*?)\s*[=:]\s*(?P<value>[-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s?(?P<percent>%)?", re.M
)


def cell_figures(cell: NotebookNode) -> dict[str, str]:
    """Return the named figures of a code cell's recorded outputs, as `row/column` or `name`, and their text."""
    named: list[tuple[str, str]] = []
    for output in cell.outputs:
        data = output.get("data", {})
        text = output.text if output.output_type == "stream" else data.get("text/plain", "")
        lines = ((m["name"].strip(), m["value"].rstrip(".,") + (m["percent"] or "")) for m in _NAMED.finditer(text))
        named += table_cells(data["text/html"]) if data.get("text/html") else lines
    values: dict[str, str] = {}
    for name, value in named:
        values[name] = value if values.get(name, value) == value else AMBIGUOUS
    return values


Fault = tuple[str, str]  # rule and message


def notebook_figures(notebook: NotebookNode) -> dict[str, str]:
    """Return all named figures of a notebook under `cell-id/...`."""
    return {f"{c.id}/{name}": value for c in code_cells(notebook) for name, value in cell_figures(c).items()}


class Figure(NamedTuple):
    """The number of a recorded figure, and how far it may differ on another machine."""

    value: Fraction
    spread: Fraction


class Figures:
    """The recorded figures of a checkout, read once each, and the keys of its references page."""

    def __init__(self, root: Path = ROOT, books: dict[Path, NotebookNode] | None = None, language: str = "en") -> None:
        """Look for lessons in a language and benchmark files below root; books are notebooks that were read already."""
        self.root, self.language = root, language
        self._books = {} if books is None else books
        self._read = cache(self._texts)
        page = root / "docs" / "en" / "references.md"
        self.keys = set(re.findall(r"^### (\S+)$", page.read_text(encoding="utf-8"), re.M)) if page.exists() else set()

    def _texts(self, source: str) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
        """Return the text of each figure of a lesson, or of `bench`, and the `verify` metadata of each cell."""
        if source == "bench":
            files = sorted((self.root / "docs" / "benchmarks").glob("*.json"))
            return leaves({path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}), {}
        path = lesson_path(self.root, self.language, source)
        try:
            book = self._books.get(path) or read(path, self.root)
        except NotebookError:
            return {}, {}
        return notebook_figures(book), {cell.id: cell.metadata.get("verify", {}) for cell in book.cells}

    def named(self, name: str, lesson: str) -> dict[str, Figure]:
        """Return the figures that a name, with a star or without, stands for in a text of a lesson, in their order.

        Raises KeyError, whose text explains it, for a figure that is gone or not a single number, and for a series of
        fewer than two.
        """
        outside = re.fullmatch(r"(bench|\d\d_\w+):(.*)", name.strip(), re.S)
        source, key = (outside[1], outside[2]) if outside else (lesson, name.strip())
        known, tolerances = self._read(source)
        pattern = re.compile("[^/]+".join(map(re.escape, key.split("*"))))
        names = [figure for figure in known if pattern.fullmatch(figure)] if "*" in key else [key]
        if "*" in key and len(names) < 2:
            raise KeyError(f"'{name}' names {len(names)} recorded figures, a series has two or more")
        if names == [key] and key not in known:
            cell = key.split("/")[0]
            near = sorted(figure for figure in known if figure.startswith(f"{cell}/"))
            raise KeyError(f"no recorded figure has that name; cell '{cell}' has {', '.join(near[:8]) or 'none'}")
        found = {}
        for figure in names:
            if (number := _number(known[figure])) is None:
                raise KeyError(f"the recorded figure is '{known[figure]}', not a number")
            verify = {kind: Fraction(str(size)) for kind, size in tolerances.get(figure.split("/")[0], {}).items()}
            spread = max(verify.get("atol", 0), verify.get("rtol", 0) * abs(Fraction(number)))
            found[f"{source}:{figure}"] = Figure(Fraction(number), Fraction(spread))
        return found


def _number(text: str) -> Decimal | None:
    text = text.strip().removeprefix("< ")  # a p-value written as "< 0.001" has that bound as its number
    text = text.replace(",", "").replace("\u2212", "-").replace("％", "%")
    match = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[ \u00a0]?(%?)", text)
    return Decimal(match[1]).scaleb(-2 if match[2] else 0) if match else None


def _unit(number: Decimal) -> Decimal:
    """Return the size of a step of a number's last digit."""
    return Decimal(1).scaleb(int(number.as_tuple().exponent))


def agrees(shown: str, recorded: str) -> bool:
    """Tell whether a number in prose is the recorded one, rounded to the digits shown."""
    old, new = _number(recorded), _number(shown)
    return old is not None and new is not None and abs(old - new) <= _unit(new) / 2


def without_markers(text: str) -> str:
    """Return a text without its markers but with their numbers, as a reader sees it."""
    return re.sub(r"<!--\s*(?:fig|calc|nofig|holds):.*?-->", "", text)


def _wrong_forms(text: str, keys: set[str]) -> Iterator[Fault]:
    """Yield each marker that is not written as one, or whose source is neither a key of the references nor a reason."""
    for match in _ANY.finditer(text):
        shown, body = re.sub(r"\s+", " ", match[0])[:60], match["body"].strip()
        if not (match["colon"] and match["end"] and body) or re.search(r"\n|<!--", match["body"]):
            more = " (nofig needs a source)" if match["kind"] == "nofig" else ""
            yield "figure-marker", f"'{shown}' is no marker{more}: write {_FORMS}"
        elif match["kind"] == "holds" and re.search(r"(?:^|\n)[ \t]*$", text[: match.start()]):
            yield "figure-marker", f"'{shown}' begins a line, which hides the line: put it behind its words"
        elif match["kind"] == "nofig" and " " not in body and body not in keys:
            message = f"the references page has no key '{body}': give a key it has, or a reason of several words"
            yield "figure-source", message


def _wrong_values(text: str, figures: Figures, lesson: str) -> Iterator[Fault]:
    """Yield each number or claim of a text that the recorded figures contradict."""
    covered = {at for block in _BLOCK.finditer(text) for at in range(*block.span())}
    for match in (*_MARKED.finditer(text), *_HOLDS.finditer(text)):
        kind, name = match["kind"], match["name"]
        if kind != "holds" and not match["value"]:
            if match.start() not in covered:
                yield "figure-marker", f"no number follows '{kind}:{name}': it covers the number right after it"
        elif kind != "nofig":
            try:
                value, used = _value(repr(name) if kind == "fig" else name, figures, lesson)
                if kind == "holds":
                    yield from _wrong_claim(name, value, used, figures, lesson)
                else:
                    yield from _wrong_number(match, value, used)
            except KeyError as error:
                yield "figure-gone", f"'{kind}:{name}': {error.args[0]}"
            except ExpressionError as error:
                yield "claim-marker", str(error)


def _value(
    expression: str, figures: Figures, lesson: str, moved: Mapping[str, Fraction] = MappingProxyType({})
) -> tuple[Number | bool, dict[str, Figure]]:
    """Return the value of an expression and the figures in it; those in moved have another value than recorded."""
    used: dict[str, Figure] = {}

    def lookup(name: str) -> list[Fraction]:
        found = figures.named(name, lesson)
        used.update(found)
        return [moved.get(key, figure.value) for key, figure in found.items()]

    return evaluate(expression, lookup), used


def _wrong_number(match: re.Match[str], value: Number | bool, used: dict[str, Figure]) -> Iterator[Fault]:
    shown = match["value"] + (match["percent"] or "")
    if isinstance(value, bool) or not agrees(shown, f"{float(value):.12f}"):
        result = value if isinstance(value, bool) else f"{float(value):.6g}"
        yield "figure-value", f"the text says {shown}, '{match['name']}' is {result}: correct the text"
    elif match["kind"] == "fig" and _unit(_number(shown) or Decimal()) < max(figure.spread for figure in used.values()):
        yield "figure-digits", f"{shown} is finer than the tolerance of the cell of '{match['name']}': round it"


def _wrong_claim(
    claim: str, value: Number | bool, used: dict[str, Figure], figures: Figures, lesson: str
) -> Iterator[Fault]:
    """Yield it if a claim is none, or does not hold within the tolerances."""
    ends = ((figure.value - figure.spread, figure.value + figure.spread) if figure.spread else (figure.value,)
            for figure in used.values())  # fmt: skip
    if not isinstance(value, bool):
        yield "claim-marker", f"'{claim}' is no comparison: a claim is true or false"
    elif not value:
        numbers = ", ".join(f"{key.partition(':')[2]} is {float(figure.value):g}" for key, figure in used.items())
        yield "claim", f"'{claim}' no longer holds ({numbers}): correct the sentence"
    elif not all(
        _value(claim, figures, lesson, dict(zip(used, moved, strict=True)))[0] for moved in itertools.product(*ends)
    ):
        yield "claim", f"'{claim}' does not survive the tolerance of its cells: claim less"


def check_text(text: str, file: str, cell: str, figures: Figures, lesson: str) -> Iterator[Problem]:
    """Yield the problems of numbers and claims in one Markdown text of a lesson, or of a page (without a lesson)."""
    marked = without_code(text)
    faults = (*_wrong_forms(marked, figures.keys), *_wrong_values(marked, figures, lesson))
    yield from (Problem(file, cell, *fault) for fault in faults)
