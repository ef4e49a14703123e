"""Compare the recorded outputs of a lesson with fresh ones.

Numbers. An integer must be equal. A number shown with at most DECIMALS decimals and DIGITS significant digits has
been rounded for the reader, so every digit he sees must be equal: a drift of 1e-9 behind the rounding does not show,
a change of the last shown digit does. A number shown with more digits may differ by RTOL, relatively. A cell whose
metadata holds `{"verify": {"rtol": r, "atol": a}}` replaces both rules for numbers that are not integers:
|x - y| <= max(r * max(|x|, |y|), a).

Text. Without its numbers it must be equal, but for the width of blanks, memory addresses and temporary folders. Digits
that are part of a word, a version or a path are text. HTML is compared element by element.
Figures are compared as SVG, element by element (drawings.py), if the same matplotlib drew both; the PNG beside each is
the same figure for pages that cannot show SVG.
Volatile cells must give the same kinds of output.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from nbformat import NotebookNode

from .cells import code_cells, is_volatile, leaves, plain, tags
from .drawings import drawn_by, parts, unlike
from .tables import html_pieces

RTOL = 1e-5
DECIMALS, DIGITS = 6, 7

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?!\w|\.\w)", re.A)


@dataclass(frozen=True)
class Difference:
    """One difference between a recorded and a fresh notebook: the cell, in which aspect, and both values."""

    cell: str
    aspect: str
    recorded: str
    fresh: str

    def __str__(self) -> str:
        """Return the difference with both values under each other."""
        return f"[{self.cell}] {self.aspect}\n    recorded: {self.recorded}\n    fresh:    {self.fresh}"


def _is_rounded(text: str) -> bool:
    mantissa = re.split("[eE]", text.lstrip("+-"))[0]
    decimals = mantissa.partition(".")[2]
    return len(decimals) <= DECIMALS and len(mantissa.replace(".", "").lstrip("0")) <= DIGITS


def close(recorded: str, fresh: str, verify: dict[str, float] | None = None) -> bool:
    """Tell whether two printed numbers agree by the rules above; verify is the cell's own tolerance."""
    if recorded == fresh:
        return True
    if recorded.lstrip("+-").isdigit() or fresh.lstrip("+-").isdigit():
        return False
    old, new = Decimal(recorded), Decimal(fresh)
    distance, size = abs(old - new), max(abs(old), abs(new))
    if verify:
        return distance <= max(Decimal(str(verify.get("rtol", 0))) * size, Decimal(str(verify.get("atol", 0))))
    if _is_rounded(recorded) and _is_rounded(fresh):
        return old == new
    return distance <= Decimal(str(RTOL)) * size


def squeeze(text: str) -> str:
    """Return text with the width of blanks, and blanks that end a line, taken out."""
    return re.sub(r" ?\n", "\n", re.sub(r"[ \t]+", " ", plain(text))).strip()


def _kind(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return str(output.name)
    if output.output_type == "error":
        return f"error {output.ename}"
    return "+".join([output.output_type, *sorted(output.get("data", {}))])


@dataclass(frozen=True)
class Outputs:
    """The comparison of the outputs of one cell: its id and the tolerance it asks for, if any."""

    cell: str
    verify: dict[str, float] | None

    def differences(self, recorded: NotebookNode, fresh: NotebookNode) -> Iterator[Difference | None]:
        """Yield the result for each text and media type of two outputs of the same kind."""
        if recorded == fresh:
            return
        if recorded.output_type == "stream":
            yield self.text(recorded.text, fresh.text)
        for mime, value in recorded.get("data", {}).items():
            other = fresh.data[mime]
            if mime == "image/svg+xml":
                yield self.drawing(value, other)
            elif mime == "text/html":
                yield self.html(value, other)
            elif not mime.startswith("image/"):
                yield self.text(str(value), str(other))

    def text(self, recorded: str, fresh: str) -> Difference | None:
        """Return the first difference of two texts, None if there is none."""
        both = squeeze(recorded).split("\n"), squeeze(fresh).split("\n")
        for row, (old, new) in enumerate(itertools.zip_longest(*both, fillvalue="(no such line)"), 1):
            if NUMBER.sub("#", old) != NUMBER.sub("#", new):
                return Difference(self.cell, f"text, line {row}", old.strip(), new.strip())
            for x, y in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
                if not close(x, y, self.verify):
                    return Difference(self.cell, f"number, line {row} ('{old.strip()[:60]}')", x, y)
        return None

    def html(self, recorded: str, fresh: str) -> Difference | None:
        """Return the first difference of two HTML outputs, by row and column inside a table."""
        both = html_pieces(plain(recorded)), html_pieces(plain(fresh))
        sizes = [f"{len(pieces)} elements and texts" for pieces in both]
        if sizes[0] != sizes[1]:
            return Difference(self.cell, "the structure of the HTML", *sizes)
        for old, new in zip(*both, strict=True):
            if (old.tag, old.depth) != (new.tag, new.depth):
                return Difference(self.cell, f"HTML element {old.location}".strip(), old.tag, new.tag)
            if difference := self.text(old.text, new.text):
                return replace(difference, aspect=old.location or difference.aspect)
        return None

    def drawing(self, recorded: str, fresh: str) -> Difference | None:
        """Return the first difference of two SVGs; those that two versions of matplotlib drew pass."""
        versions = {drawn_by(recorded), drawn_by(fresh)}
        if recorded == fresh or (len(versions) > 1 and "" not in versions):
            return None
        try:
            both = list(parts(recorded)), list(parts(fresh))
        except ValueError as error:
            return Difference(self.cell, "figure, SVG", "can be compared", str(error))
        for old, new in zip(*both, strict=False):
            if sides := unlike(old, new):
                return Difference(self.cell, "figure, SVG", *sides)
            if difference := self.text(old.text, new.text):
                return replace(difference, aspect="figure, SVG: words")
        sizes = [f"{len(elements)} elements" for elements in both]
        return Difference(self.cell, "figure, SVG", *sizes) if sizes[0] != sizes[1] else None


def provenance(cell: NotebookNode) -> dict[str, Any] | None:
    """Return the JSON object that a provenance cell printed, or None if it printed something else."""
    text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
    try:
        record = json.loads(text)
    except json.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


FREE = {"date", "device", "python"}  # facts of the provenance that may differ


def _provenance_differences(recorded: NotebookNode, fresh: NotebookNode, versions: bool) -> list[Difference]:
    old, new = (
        {path: text for path, text in leaves(provenance(cell) or {}).items() if path.split("/")[0] not in FREE}
        for cell in (recorded, fresh)
    )
    for path in sorted(set(old) | set(new)):
        texts = old.get(path, "(absent)"), new.get(path, "(absent)")
        if texts[0] != texts[1] and (versions or not path.startswith("packages/")):
            return [Difference(recorded.id, f"provenance /{path}", *texts)]
    return []


def compare_cell(recorded: NotebookNode, fresh: NotebookNode, versions: bool = True) -> list[Difference]:
    """Return the differences between the outputs of one code cell, recorded and fresh; versions as for compare."""
    old, new = ([_kind(output) for output in cell.outputs] for cell in (recorded, fresh))
    if old != new:
        texts = ("; ".join(kinds) or "(none)" for kinds in (old, new))
        return [Difference(recorded.id, "outputs (number and kind)", *texts)]
    if is_volatile(recorded):
        return _provenance_differences(recorded, fresh, versions) if "provenance" in tags(recorded) else []
    outputs = Outputs(recorded.id, recorded.metadata.get("verify"))
    pairs = zip(recorded.outputs, fresh.outputs, strict=True)
    return [difference for pair in pairs for difference in outputs.differences(*pair) if difference]


def compare(recorded: NotebookNode, fresh: NotebookNode, *, versions: bool = True) -> list[Difference]:
    """Return every difference between two executions of the same cells, cell by cell; empty if they agree.

    versions is whether those of packages in the provenance count: not where another environment is meant.
    """
    pairs = zip(code_cells(recorded), code_cells(fresh), strict=True)
    return [difference for pair in pairs for difference in compare_cell(*pair, versions)]
