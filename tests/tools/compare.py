"""Compare what a lesson has recorded with what it gives now.

Numbers. An integer must be equal. A number shown with at most DECIMALS decimals and DIGITS significant digits has
been rounded for the reader, so every digit he sees must be equal: a drift of 1e-9 behind the rounding does not show,
a change of the last shown digit does. A number shown with more digits may differ by RTOL, relatively. A cell whose
metadata holds `{"verify": {"rtol": r, "atol": a}}` replaces both rules for numbers that are not integers:
|x - y| <= max(r * max(|x|, |y|), a).

Text. What remains when the numbers are taken out must be equal, but for the width of blanks, memory addresses and
temporary folders. Digits that are part of a word, a version or a path are text. HTML is compared element by element.
Figures are compared by pixels if the same matplotlib drew both. Volatile cells must give the same kinds of output.
"""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from .notebooks import Node, code_cells, is_volatile, plain, tags
from .tables import Piece, html_pieces

RTOL = 1e-5
DECIMALS, DIGITS = 6, 7
PIXEL = 8  # of 255: smaller differences come from rounding in anti-aliased edges

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?!\w|\.\w)", re.A)


@dataclass(frozen=True)
class Difference:
    """One difference between a recorded and a fresh notebook; images are PNG bytes if it is a figure."""

    cell: str
    what: str
    recorded: str
    fresh: str
    images: dict[str, bytes] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        """Return the difference with both values under each other."""
        return f"[{self.cell}] {self.what}\n    recorded: {self.recorded}\n    fresh:    {self.fresh}"


Close = Callable[[str, str], bool]


def _rounded(text: str) -> bool:
    """Tell whether a number is written with so few digits that it was rounded for a reader."""
    mantissa = re.split("[eE]", text.lstrip("+-"))[0]
    decimals = mantissa.partition(".")[2]
    return len(decimals) <= DECIMALS and len(mantissa.replace(".", "").lstrip("0")) <= DIGITS


def close(recorded: str, fresh: str, verify: dict | None = None) -> bool:
    """Tell whether two printed numbers agree by the rules above; verify is the cell's own tolerance."""
    if recorded == fresh:
        return True
    if recorded.lstrip("+-").isdigit() or fresh.lstrip("+-").isdigit():
        return False
    one, two = Decimal(recorded), Decimal(fresh)
    gap, size = abs(one - two), max(abs(one), abs(two))
    if verify:
        return gap <= max(Decimal(str(verify.get("rtol", 0))) * size, Decimal(str(verify.get("atol", 0))))
    if _rounded(recorded) and _rounded(fresh):
        return one == two
    return gap <= Decimal(str(RTOL)) * size


def squeeze(text: str) -> str:
    """Return text with the width of blanks, and blanks that end a line, taken out."""
    return re.sub(r" ?\n", "\n", re.sub(r"[ \t]+", " ", plain(text))).strip()


def _text_gap(recorded: str, fresh: str, same: Close) -> tuple[str, str, str] | None:
    """Return what differs, recorded and fresh, for the first differing line of two texts."""
    one, two = squeeze(recorded).split("\n"), squeeze(fresh).split("\n")
    for row in range(max(len(one), len(two))):
        a, b = (lines[row] if row < len(lines) else "(no such line)" for lines in (one, two))
        if NUMBER.sub("#", a) != NUMBER.sub("#", b):
            return f"text, line {row + 1}", a.strip(), b.strip()
        for x, y in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True):
            if not same(x, y):
                return f"number, line {row + 1} ('{a.strip()[:60]}')", x, y
    return None


def _extent(pieces: list[Piece]) -> str:
    """Return in words how much an HTML output holds."""
    kinds = [piece.tag.split()[0] for piece in pieces]
    return f"{kinds.count('tr')} rows, {kinds.count('td') + kinds.count('th')} cells, {len(kinds)} elements and texts"


def _html_gap(recorded: str, fresh: str, same: Close) -> tuple[str, str, str] | None:
    """Return what differs in two HTML outputs, naming row and column inside a table."""
    one, two = html_pieces(plain(recorded)), html_pieces(plain(fresh))
    if len(one) != len(two):
        return "the structure of the HTML", _extent(one), _extent(two)
    for a, b in zip(one, two, strict=True):
        if a.text is None or b.text is None:
            if a != b:
                return f"HTML element {a.where}".strip(), a.tag, b.tag
        elif gap := _text_gap(a.text, b.text, same):
            what = a.where or gap[0]
            return what, gap[1], gap[2]
    return None


def _png(data: str) -> tuple[bytes, object, str]:
    """Return the bytes, the RGBA pixels and the writing software of a base64 PNG."""
    import numpy as np
    from PIL import Image

    raw = base64.b64decode(data)
    with Image.open(io.BytesIO(raw)) as image:
        return raw, np.asarray(image.convert("RGBA")).astype(np.int16), str(image.info.get("Software", ""))


def _difference_image(one: object, two: object) -> bytes:
    """Return a PNG that is white where two pictures agree and red where they do not."""
    import numpy as np
    from PIL import Image

    height, width = (max(p.shape[axis] for p in (one, two)) for axis in (0, 1))
    canvas = [np.full((height, width, 4), -255, np.int16) for _ in range(2)]
    for area, picture in zip(canvas, (one, two), strict=True):
        area[: picture.shape[0], : picture.shape[1]] = picture
    differs = (np.abs(canvas[0] - canvas[1]) > PIXEL).any(axis=2)
    rgb = np.where(differs[..., None], (220, 0, 0), (255, 255, 255)).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, format="PNG")
    return buffer.getvalue()


def _image_gap(recorded: str, fresh: str) -> tuple[str, str, str, dict[str, bytes]] | None:
    """Return what differs between two PNGs; other versions of matplotlib draw other pixels, so those pass."""
    import numpy as np

    if recorded.strip() == fresh.strip():
        return None
    (raw, one, drawn), (raw_fresh, two, drawn_fresh) = _png(recorded), _png(fresh)
    if drawn != drawn_fresh:
        return None
    sizes = ["{1} x {0} pixels".format(*p.shape) for p in (one, two)]
    if one.shape == two.shape:
        count = int((np.abs(one - two) > PIXEL).any(axis=2).sum())
        if not count:
            return None
        sizes[1] += f", {count} of them different"
    images = {"recorded": raw, "fresh": raw_fresh, "difference": _difference_image(one, two)}
    return "figure", sizes[0], sizes[1], images


def _kind(output: Node) -> str:
    """Return what kind of output this is: stream and name, or display and its media types."""
    if output.output_type == "stream":
        return output.name
    if output.output_type == "error":
        return f"error {output.ename}"
    return "+".join([output.output_type, *sorted(output.get("data", {}))])


def _output_gaps(one: Node, two: Node, same: Close) -> Iterator[tuple]:
    """Yield what differs between two outputs of the same kind, one item per media type."""
    if one.output_type == "stream":
        yield _text_gap(one.text, two.text, same)
    for mime, value in one.get("data", {}).items():
        other = two.data[mime]
        if mime == "image/png":
            yield _image_gap(value, other)
        elif mime == "text/html":
            yield _html_gap(value, other, same)
        elif isinstance(value, str):
            yield _text_gap(value, other, same)
        else:
            yield _text_gap(*(json.dumps(v, indent=1, sort_keys=True) for v in (value, other)), same)


def provenance(cell: Node) -> dict | None:
    """Return the JSON object that a provenance cell printed, or None if it printed something else."""
    text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _shape(value: object, path: str = "") -> dict[str, object]:
    """Return the paths of a JSON value; checksums keep their value, everything else only its place."""
    if isinstance(value, dict):
        return {k: v for key in value for k, v in _shape(value[key], f"{path}/{key}").items()}
    return {path: value if "sha256" in path else None}


def _provenance_gap(one: Node, two: Node) -> Difference | None:
    """Compare two provenance records: the same entries and the same checksums; versions and date may differ."""
    a, b = _shape(provenance(one) or {}), _shape(provenance(two) or {})
    for key in sorted(set(a) | set(b)):
        if a.get(key, "(absent)") != b.get(key, "(absent)") and "/packages/" not in key:
            recorded, fresh = (str(side[key] or "present") if key in side else "(absent)" for side in (a, b))
            return Difference(one.id, f"provenance {key}", recorded, fresh)
    return None


def compare_cell(recorded: Node, fresh: Node) -> list[Difference]:
    """Return the differences between the outputs of one code cell, recorded and fresh."""
    kinds = [[_kind(output) for output in cell.outputs] for cell in (recorded, fresh)]
    if kinds[0] != kinds[1]:
        shown = ["; ".join(k) or "(none)" for k in kinds]
        return [Difference(recorded.id, "outputs (number and kind)", *shown)]
    if is_volatile(recorded):
        gap = _provenance_gap(recorded, fresh) if "provenance" in tags(recorded) else None
        return [gap] if gap else []
    verify = recorded.metadata.get("verify")

    def same(x: str, y: str) -> bool:
        return close(x, y, verify)

    pairs = zip(recorded.outputs, fresh.outputs, strict=True)
    return [Difference(recorded.id, *gap) for one, two in pairs for gap in _output_gaps(one, two, same) if gap]


def compare(recorded: Node, fresh: Node) -> list[Difference]:
    """Return every difference between two states of a lesson, cell by cell; empty if they agree."""
    old, new = ({cell.id: cell for cell in code_cells(nb)} for nb in (recorded, fresh))
    found = [Difference(i, "cell", "present", "(absent)") for i in old if i not in new]
    found += [Difference(i, "cell", "(absent)", "present") for i in new if i not in old]
    if not found and list(old) != list(new):
        moved = next(i for i, j in zip(old, new, strict=True) if i != j)
        return [Difference(moved, "order of cells", " ".join(old), " ".join(new))]
    for cell_id in old:
        if cell_id in new:
            found += compare_cell(old[cell_id], new[cell_id])
    return found
