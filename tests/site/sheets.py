"""What is where on the sheets of a PDF that Chromium has printed: as much of the format as the tests here need."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

HEIGHT, WIDTH = 841.9, 595.0  # A4 in points
_TOKEN = re.compile(rb"\bq\b|\bQ\b|((?:[-\d.]+ ){6})cm|((?:[-\d.]+ ){6})Tm|/\w+ ([\d.]+) Tf|<([0-9A-F]*)> Tj|\] TJ")


@dataclass(frozen=True)
class Text:
    """A piece of text: its left end and base line in points from the sheet's upper left corner, its size."""

    x: float
    y: float
    size: float


def sheets(pdf: bytes) -> list[list[Text]]:
    """Return the texts of each sheet, in the order in which they are drawn."""
    objects = {int(m[1]): m[2] for m in re.finditer(rb"(\d+) 0 obj\n(.*?)endobj", pdf, re.S)}
    pages = [body for body in objects.values() if re.search(rb"/Type /Page\b", body)]
    contents = [objects[int(re.search(rb"/Contents (\d+)", page)[1])] for page in pages]  # type: ignore[index]
    return [_texts(zlib.decompress(body.split(b"stream\n", 1)[1])) for body in contents]


def _texts(content: bytes) -> list[Text]:
    """Follow the matrices of a sheet to its texts; nothing on it is turned."""
    found: list[Text] = []
    scale, left, top = (1.0, 1.0), 0.0, 0.0
    kept: list[tuple[tuple[float, float], float, float]] = []
    spot, size = (0.0, 0.0), 0.0
    for token in _TOKEN.finditer(content):
        if token[0] == b"q":
            kept.append((scale, left, top))
        elif token[0] == b"Q":
            scale, left, top = kept.pop()
        elif token[1]:
            a, _, _, d, e, f = map(float, token[1].split())
            left, top = left + scale[0] * e, top + scale[1] * f
            scale = (scale[0] * a, scale[1] * d)
        elif token[2]:
            *_, e, f = map(float, token[2].split())
            spot = (e, f)
        elif token[3]:
            size = float(token[3])
        else:
            found.append(Text(left + scale[0] * spot[0], HEIGHT - (top + scale[1] * spot[1]), abs(scale[1]) * size))
    return found
