"""Numbers and claims in prose that come from a run: find their markers, resolve the recorded figures, compare.

`<!--fig:CELL/ROW/COLUMN-->0.912` quotes a cell of a displayed table, `<!--fig:CELL/NAME-->0.912` a printed line
`NAME = value` or `NAME: value`. Outside notebooks the lesson comes first (`<!--fig:01_evaluation:CELL/...-->`), and
`<!--fig:bench:FILE/KEY/...-->` quotes docs/benchmarks/FILE.json. `<!--calc: EXPR-->0.17` is worked out from figures or
numbers, and `<!--holds: EXPR-->`, behind the words it stands for, is a claim (arithmetic.py says what EXPR may hold).
`<!--nofig: SOURCE-->0.41` is cited: SOURCE is a key of the references page, or a reason of several words; the same
alone on a line covers the paragraph or table that follows. Cited numbers, and all others, are listed (listed.py).
A value may be a word from one to twelve. An alternative text takes the same markers; the site shows it without them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from .arithmetic import ExpressionError, evaluate, wrong_formulas
from .cells import alt_text, code_cells, leaves
from .directions import contradicts, wrong_moves
from .listed import FILE, listed
from .markdown import PLACEHOLDER, prose, without_code
from .notebooks import ROOT, NotebookError, Problem, lesson_path, read
from .quantities import tokens
from .tables import table_cells, unambiguous

_SPOKEN = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
    "九": 9, "十": 10, "十一": 11, "十二": 12,
}  # fmt: skip
_VALUE = (
    rf"(?:(?i:{'|'.join(sorted(_SPOKEN, key=len, reverse=True))})(?![A-Za-z])"
    r"|[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_BODY = r"(?:(?!-->)[^\n])*?"
MARKER = re.compile(rf"<!--\s*fig:\s*(?P<name>{_BODY})\s*-->(?P<value>{_VALUE})(?P<percent>[ \u00a0]?[%％])?")
_WORKED = re.compile(rf"<!--\s*calc:\s*(?P<name>{_BODY})\s*-->(?P<value>{_VALUE})(?P<percent>[ \u00a0]?[%％])?")
_CITED = re.compile(rf"<!--\s*nofig:\s*(?P<name>{_BODY})\s*-->(?P<value>{_VALUE})(?:[ \u00a0]?[%％])?")
_HOLDS = re.compile(rf"<!--\s*holds:\s*(?P<name>{_BODY})\s*-->")
_BLOCK = re.compile(rf"^[ \t]*<!--\s*nofig:\s*(?P<name>{_BODY})\s*-->[ \t]*\n(?:.*\S.*(?:\n|\Z))+", re.M)
_ANY = re.compile(r"<!--\s*(?P<kind>fig|calc|nofig|holds)\b(?P<colon>:?)(?P<body>(?:(?!-->).)*)(?P<end>-->)?", re.S)
_MARKERS = (MARKER, _WORKED, _CITED, _HOLDS)
_FORMS = "<!--fig:NAME-->0.5, <!--calc: EXPR-->0.5, <!--nofig: SOURCE-->0.5 or <!--holds: EXPR-->"
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


def _named(output: NotebookNode) -> list[tuple[str, str]]:
    """Return the names and texts of the figures of one output: cells of its HTML tables, or else printed lines."""
    html = output.get("data", {}).get("text/html", "")
    if html:
        return list(table_cells(html))
    text = output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
    return [(m["name"].strip(), m["value"].rstrip(".,") + (m["percent"] or "")) for m in _NAMED.finditer(text)]


def cell_figures(cell: NotebookNode) -> dict[str, str]:
    """Return the named figures of a code cell's recorded outputs, as `row/column` or `name`, and their text."""
    return unambiguous(item for output in cell.outputs for item in _named(output))


def notebook_figures(notebook: NotebookNode) -> dict[str, str]:
    """Return all named figures of a notebook under `cell-id/...`."""
    return {f"{c.id}/{name}": value for c in code_cells(notebook) for name, value in cell_figures(c).items()}


class Figures:
    """The recorded figures of a checkout, read once each."""

    def __init__(self, root: Path = ROOT) -> None:
        """Look for lessons and benchmark files below root."""
        self.root = root
        self._figures = cache(self._read)

    def _read(self, source: str) -> dict[str, str]:
        """Return the figures of a lesson's English notebook, none if it cannot be read, or of all benchmark files."""
        if source == "bench":
            files = sorted((self.root / "docs" / "benchmarks").glob("*.json"))
            return leaves({path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files})
        try:
            return notebook_figures(read(lesson_path(self.root, "en", source), self.root))
        except NotebookError:
            return {}

    def matching(self, name: str, own: dict[str, str] | None = None) -> list[str]:
        """Return the names of the figures that a name with a star stands for, in their order; else the name itself.

        Raises KeyError if there are fewer than two.
        """
        if "*" not in name:
            return [name]
        lesson, _, key = name.rpartition(":") if re.match(r"\d\d_\w+:", name) else ("", "", name)
        pattern = re.compile("[^/]+".join(map(re.escape, key.split("*"))))
        found = [one for one in (self._figures(lesson) if lesson else own or {}) if pattern.fullmatch(one)]
        if len(found) < 2:
            raise KeyError(f"'{name}' names {len(found)} recorded figures, a series has two or more")
        return [f"{lesson}:{one}" if lesson else one for one in found]

    def find(self, name: str, own: dict[str, str] | None = None) -> str:
        """Return the recorded text of a figure; own are the figures of the notebook that quotes it.

        Raises KeyError, whose text says what is wrong, for a figure that is gone or not a single number.
        """
        outside = re.fullmatch(r"(bench|\d\d_\w+):(.*)", name, re.S)
        source, key = outside.groups() if outside else ("", name)
        known = self._figures(source) if source else own or {}
        if key not in known and source == "bench":
            raise KeyError(f"docs/benchmarks has no '{key}'")
        if key not in known:
            cell = key.split("/")[0]
            near = sorted(k for k in known if k.split("/")[0] == cell)
            raise KeyError(f"no recorded figure has that name; cell '{cell}' has {', '.join(near[:8]) or 'none'}")
        if _number(known[key]) is None:
            raise KeyError(f"the recorded figure is '{known[key]}', not a number")
        return known[key]


def _number(text: str) -> Decimal | None:
    """Return the number a text shows (`91.2%` is 0.912, `five` is 5), or None."""
    text = text.strip().replace(",", "").replace("\u2212", "-").replace("％", "%")
    if text.lower() in _SPOKEN:
        return Decimal(_SPOKEN[text.lower()])
    match = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[ \u00a0]?(%?)", text)
    return Decimal(match[1]).scaleb(-2 if match[2] else 0) if match else None


def agrees(shown: str, recorded: str) -> bool:
    """Tell whether a number in prose is the recorded one, rounded to the digits shown."""
    one, two = _number(shown), _number(recorded)
    if one is None or two is None:
        return False
    unit = Decimal(1).scaleb(int(one.as_tuple().exponent))
    return abs(one - two) <= unit / 2


def markers(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, number as shown) for each fig marker in a Markdown text; the number is empty if none follows."""
    for match in MARKER.finditer(without_code(text)):
        yield match["name"], _shown(match)


def _shown(match: re.Match[str]) -> str:
    """Return the number behind a marker as it is shown, empty if there is none."""
    percent = match.groupdict().get("percent") or ""
    return match["value"] + percent if match["value"] else ""


def without_markers(text: str) -> str:
    """Return a text without its markers, their numbers kept: what a reader sees."""
    return re.sub(r"<!--\s*(?:fig|calc|nofig|holds|twin):.*?-->", "", text)


def _unmarked_text(text: str, cited: bool = False) -> str:
    """Return a Markdown text without marked numbers (cited: those of nofig stay), covered paragraphs and versions."""
    text = _BLOCK.sub("\n", text)
    for pattern in (MARKER, _WORKED, _HOLDS) if cited else _MARKERS:
        text = pattern.sub(f" {PLACEHOLDER} ", text)
    return re.sub(r"\d+(?:\.\d+){2,}", " ", _VERSION.sub(" ", prose(text)))


def unmarked(text: str) -> list[str]:
    """Return the numbers in the prose of a text that look like results and carry no marker."""
    return [match[0].strip() for match in _RESULT.finditer(_INTERVAL.sub(" ", _unmarked_text(text)))]


def free_numbers(text: str) -> list[str]:
    """Return the numbers in the prose of an English text that no run gives: cited ones, and those without a marker.

    Those that look like results and have no marker are not among them: they need one.
    """
    results = [re.sub(r"\s", "", number) for number in unmarked(text)]
    return [number for number in tokens(_unmarked_text(text, cited=True)) if number not in results]


class Texts:
    """Checks the markers of one text after the other against the figures and the references of a checkout."""

    def __init__(self, figures: Figures) -> None:
        """Read the keys of the references page, if there is one."""
        self.figures = figures
        page = figures.root / "docs" / "en" / "references.md"
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        self.keys = set(re.findall(r"^### (\S+)$", text, re.M))

    def _form(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield rule and message for each marker that is not written as one."""
        for match in _ANY.finditer(text):
            shown = re.sub(r"\s+", " ", match[0])[:60]
            if not (match["colon"] and match["end"] and match["body"].strip()) or re.search(r"\n|<!--", match["body"]):
                more = " (nofig needs a source)" if match["kind"] == "nofig" else ""
                yield "figure-marker", f"'{shown}' is no marker{more}: write {_FORMS}"
            elif match["kind"] == "holds" and re.search(r"(?:^|\n)[ \t]*$", text[: match.start()]):
                yield "figure-marker", f"'{shown}' begins a line, which hides the line: put it behind its words"
            elif match["kind"] == "nofig":
                yield from self._source(match["body"].strip())

    def _source(self, source: str) -> Iterator[tuple[str, str]]:
        """Yield rule and message if the source of a cited number is neither a key of the references nor a reason."""
        if " " not in source and source not in self.keys:
            message = f"the references page has no key '{source}': give a key it has, or a reason of several words"
            yield "figure-source", message

    def _quoted(self, text: str, own: dict[str, str] | None) -> Iterator[tuple[str, str]]:
        """Yield rule and message for each number that is not what its marker says."""
        lines = [(match.start(), match.end()) for match in _BLOCK.finditer(text)]
        for pattern, kind in ((MARKER, "fig"), (_WORKED, "calc"), (_CITED, "nofig")):
            for match in pattern.finditer(text):
                block = any(start <= match.start() < end for start, end in lines) and not match["value"]
                if not match["value"] and not block:
                    message = f"no number follows '{kind}:{match['name']}': it covers the number right after it"
                    yield "figure-marker", message
                elif kind == "fig":
                    yield from self._figure(match["name"], _shown(match), own)
                elif kind == "calc":
                    yield from self._calculated(match["name"], _shown(match), own)

    def _figure(self, name: str, shown: str, own: dict[str, str] | None) -> Iterator[tuple[str, str]]:
        """Yield rule and message unless a number is the recorded one."""
        try:
            recorded = self.figures.find(name, own)
        except KeyError as error:
            yield "figure-gone", f"'fig:{name}' before {shown}: {error.args[0]}"
        else:
            if not agrees(shown, recorded):
                yield "figure-value", f"the text says {shown}, 'fig:{name}' is {recorded}: correct the text"

    def _evaluate(self, expression: str, own: dict[str, str] | None) -> tuple[object, str, str]:
        """Return the value of an expression, or None with the rule broken and what to do."""
        used = []

        def lookup(name: str) -> list[Fraction]:
            found = [self.figures.find(one, own) for one in self.figures.matching(name, own)]
            used.append(f"{name} is {' '.join(found)}")
            return [Fraction(_number(text) or 0) for text in found]

        try:
            return evaluate(expression, lookup), "", ", ".join(used)
        except KeyError as error:
            return None, "figure-gone", f"in '{expression}': {error.args[0]}"
        except ExpressionError as error:
            return None, "claim-marker", str(error)

    def _calculated(self, expression: str, shown: str, own: dict[str, str] | None) -> Iterator[tuple[str, str]]:
        """Yield rule and message unless a number is what its expression gives."""
        value, rule, message = self._evaluate(expression, own)
        if value is None:
            yield rule, message
        elif isinstance(value, bool) or not agrees(shown, f"{float(value):.12f}"):  # type: ignore[arg-type]
            result = value if isinstance(value, bool) else f"{float(value):.6g}"  # type: ignore[arg-type]
            yield "figure-value", f"the text says {shown}, '{expression}' gives {result}: correct the text"

    def _claims(self, text: str, own: dict[str, str] | None) -> Iterator[tuple[str, str]]:
        """Yield rule and message for each claim that the recorded figures do not bear out."""
        for match in _HOLDS.finditer(text):
            value, rule, message = self._evaluate(match["name"], own)
            if value is None:
                yield rule, message
            elif not isinstance(value, bool):
                yield "claim-marker", f"'{match['name']}' is no comparison: a claim is true or false"
            elif not value:
                yield "claim", f"'{match['name']}' no longer holds ({message}): correct the sentence"
            elif contradicts(without_markers(text[: match.start()]), match["name"]):
                said = without_markers(text[: match.start()]).rstrip()[-40:].replace("\n", " ")
                message = "correct the sentence, or write the claim the way it says it"
                yield "direction", f"'… {said}' and '{match['name']}' point in opposite directions: {message}"

    def problems(self, text: str, own: dict[str, str] | None = None) -> Iterator[tuple[str, str]]:
        """Yield rule and message for everything that is wrong with the numbers and claims of one text."""
        marked = without_code(text)
        yield from self._form(marked)
        yield from self._quoted(marked, own)
        yield from self._claims(marked, own)
        for number in unmarked(text):
            message = f"{number} looks like a result: put <!--fig:NAME--> before it, or <!--nofig: SOURCE-->"
            yield "figure-unmarked", message
        for equation in wrong_formulas(without_markers(marked)):
            yield "formula", f"'{equation}' is not so: work it out again"
        for move in wrong_moves(without_markers(marked)):
            yield "direction", f"'{move}': the second number lies on the other side, correct the word or the numbers"


def _listed(text: str, pinned: str | None) -> Iterator[tuple[str, str]]:
    """Yield rule and message unless the free numbers of an English text are those listed for it."""
    found = " ".join(free_numbers(text))
    if pinned != "*" and found != (pinned or ""):
        message = f"numbers that no run gives are '{found}', {FILE} lists '{pinned or ''}'"
        yield "number-unlisted", f"{message}: mark what a run gives, list the rest with a reason"


def check_text(
    text: str, file: str, cell: str, texts: Texts, own: dict[str, str] | None = None, pinned: str | None = "*"
) -> Iterator[Problem]:
    """Yield what is wrong with the numbers of one Markdown text; pinned are its free numbers (`*`: not looked at)."""
    for rule, message in (*texts.problems(text, own), *_listed(text, pinned)):
        yield Problem(file, cell, rule, message)


def notebook_problems(notebook: NotebookNode, file: str, texts: Texts) -> Iterator[Problem]:
    """Yield what is wrong with the numbers in markdown cells and alternative texts of a notebook.

    The free numbers of an English one are compared with the list; translation.py compares the Chinese with it.
    """
    own, english = notebook_figures(notebook), Path(file).parent.name == "en"
    pins = listed(texts.figures.root, Path(file).stem, "numbers")
    for cell in notebook.cells:
        text = cell.source if cell.cell_type == "markdown" else alt_text(cell)
        if text:
            yield from check_text(text, file, cell.id, texts, own, pins.get(cell.id, "") if english else "*")
