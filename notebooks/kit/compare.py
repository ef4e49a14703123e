"""Compare the recorded outputs of a lesson with fresh ones.

Numbers. An integer must be equal. A number shown with at most DIGITS significant digits has been rounded for the
reader, so every digit he sees must be equal: a drift of 1e-9 behind the rounding does not show, a change of the last
shown digit does. A number shown with more digits may differ by RTOL, relatively. A cell whose metadata holds
`{"verify": {"rtol": r, "atol": a}}` replaces both rules for numbers that are not integers:
|x - y| <= max(r * max(|x|, |y|), a).

Text. Without its numbers it must be equal, but for the width of blanks, memory addresses and temporary folders. Digits
that are part of a word, a version or a path are text. HTML is compared as it is written, after the plain text beside
it, whose lines are the rows of a table.
Figures are compared as SVG, line by line (drawings.py), if the same matplotlib drew both; the PNG beside each is
the same figure for pages that cannot show SVG.
Volatile cells must give the same kinds of output.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nbformat import NotebookNode

from .cells import code_cells, is_volatile, leaves, plain, tags
from .drawings import WORDS, unlike

RTOL = 1e-5
DIGITS = 7

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
    digits = max(len(re.split("[eE]", text)[0].lstrip("+-0.").replace(".", "")) for text in (recorded, fresh))
    return old == new if digits <= DIGITS else distance <= Decimal(str(RTOL)) * size


def _kind(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return str(output.name)
    if output.output_type == "error":
        return f"error {output.ename}"
    return "+".join([output.output_type, *sorted(output.get("data", {}))])


Tolerance = dict[str, float] | None
Unlike = Iterator[tuple[str, str, str]]  # in which aspect, and both values


def _outputs(recorded: NotebookNode, fresh: NotebookNode, verify: Tolerance) -> Unlike:
    """Yield the differences between two outputs of the same kind."""
    if recorded.output_type == "stream":
        yield from _texts(recorded.text, fresh.text, verify)
    for mime, value in sorted(recorded.get("data", {}).items(), reverse=True):  # text/plain before text/html
        if mime == "image/svg+xml":
            yield from _drawings(value, fresh.data[mime], verify)
        elif not mime.startswith("image/"):
            yield from _texts(str(value), str(fresh.data[mime]), verify)


def _texts(recorded: str, fresh: str, verify: Tolerance) -> Unlike:
    """Yield the differences between two texts, line by line."""
    squeezed = (re.sub(r" ?\n", "\n", re.sub(r"[ \t]+", " ", plain(text))).strip() for text in (recorded, fresh))
    both = (text.split("\n") for text in squeezed)
    for row, (old, new) in enumerate(itertools.zip_longest(*both, fillvalue="(no such line)"), 1):
        if NUMBER.sub("#", old) != NUMBER.sub("#", new):
            yield f"text, line {row}", old.strip(), new.strip()
            return
        for x, y in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
            if not close(x, y, verify):
                yield f"number, line {row} ('{old.strip()[:60]}')", x, y


def _drawings(recorded: str, fresh: str, verify: Tolerance) -> Unlike:
    """Yield the differences between two SVGs; those that two versions of matplotlib drew pass."""
    versions = [re.findall(r'data-drawn-by="Matplotlib ([\w.]+)"', svg) for svg in (recorded, fresh)]
    if recorded == fresh or (all(versions) and versions[0] != versions[1]):
        return
    if sides := unlike(recorded, fresh):
        yield ("figure, SVG", *sides)
    old, new = ("\n".join(WORDS.findall(svg)) for svg in (recorded, fresh))
    yield from (("figure, SVG: words", one, two) for _, one, two in _texts(old, new, verify))


def provenance(cell: NotebookNode) -> dict[str, Any] | None:
    """Return the JSON object that a provenance cell printed, or None if it printed something else."""
    text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
    try:
        record = json.loads(text)
    except json.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


FREE = {"date", "device", "python"}  # facts of the provenance that may differ


def compare_cell(recorded: NotebookNode, fresh: NotebookNode, versions: bool = True) -> list[Difference]:
    """Return the first difference of each output of one code cell, recorded and fresh; versions as for compare."""
    old, new = ([_kind(output) for output in cell.outputs] for cell in (recorded, fresh))
    if old != new:
        texts = ("; ".join(kinds) or "(none)" for kinds in (old, new))
        return [Difference(recorded.id, "outputs (number and kind)", *texts)]
    if "provenance" in tags(recorded):
        free = FREE if versions else FREE | {"packages"}
        one, two = ({path: fact for path, fact in leaves(provenance(cell) or {}).items()
                     if path.partition("/")[0] not in free} for cell in (recorded, fresh))  # fmt: skip
        unlike = (path for path in sorted(one.keys() | two.keys()) if one.get(path) != two.get(path))
        return [
            Difference(recorded.id, f"provenance /{path}", str(one.get(path)), str(two.get(path))) for path in unlike
        ]
    if is_volatile(recorded):
        return []
    pairs = zip(recorded.outputs, fresh.outputs, strict=True)
    first = (next(_outputs(*pair, recorded.metadata.get("verify")), None) for pair in pairs)
    return [Difference(recorded.id, *found) for found in first if found]


def compare(recorded: NotebookNode, fresh: NotebookNode, *, versions: bool = True) -> list[Difference]:
    """Return the first difference of each output between two executions of the same cells; empty if they agree.

    versions is whether those of packages in the provenance count: not where another environment is meant.
    """
    pairs = zip(code_cells(recorded), code_cells(fresh), strict=True)
    return [difference for pair in pairs for difference in compare_cell(*pair, versions)]
