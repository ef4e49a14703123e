"""Compare two pictures by their pixels."""

from __future__ import annotations

import base64
import io
from functools import reduce

from PIL import Image, ImageChops

TOLERANCE = 8  # of 255: smaller differences come from rounding in anti-aliased edges


def open_png(data: str) -> Image.Image:
    """Return the picture in a base64 PNG, which says in its info which software drew it."""
    return Image.open(io.BytesIO(base64.b64decode(data)))


def differing(recorded: Image.Image, fresh: Image.Image) -> Image.Image:
    """Return a mask as large as both pictures, 255 where their pixels differ or one of them has none."""
    size = (max(recorded.width, fresh.width), max(recorded.height, fresh.height))
    canvases = Image.new("RGBA", size, "#000f"), Image.new("RGBA", size, "#fff0")
    for canvas, picture in zip(canvases, (recorded, fresh), strict=True):
        canvas.paste(picture.convert("RGBA"))
    largest = reduce(ImageChops.lighter, ImageChops.difference(*canvases).split())
    return largest.point(lambda distance: 255 if distance > TOLERANCE else 0)


def in_red(mask: Image.Image) -> bytes:
    """Return a PNG that is red where a mask is set and white elsewhere."""
    buffer = io.BytesIO()
    Image.composite(Image.new("RGB", mask.size, "#dc0000"), Image.new("RGB", mask.size, "white"), mask).save(
        buffer, "PNG"
    )
    return buffer.getvalue()
