"""Compare two pictures by their pixels."""

import base64
import io
from functools import reduce

from PIL import Image, ImageChops, ImageFilter

TOLERANCE = 8  # of 255: smaller differences come from rounding in anti-aliased edges
NEIGHBOURS = 3  # a pixel may have any colour of so many by so many around it: an edge moves by less than one


def open_png(data: str) -> Image.Image:
    """Return the picture in a base64 PNG, whose info names the software that drew it. Raises ValueError if damaged."""
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(data)))
        picture.load()
    except OSError as error:
        raise ValueError(f"it is no PNG: {error}") from error
    return picture


def differing(recorded: Image.Image, fresh: Image.Image) -> Image.Image:
    """Return a mask as large as both pictures, 255 where a reader can see a difference or one of them has no pixel.

    A pixel differs if its colour is none of those that the other picture has around the same place.
    """
    size = (max(recorded.width, fresh.width), max(recorded.height, fresh.height))
    canvases = Image.new("RGBA", size, "#000f"), Image.new("RGBA", size, "#fff0")
    for canvas, picture in zip(canvases, (recorded, fresh), strict=True):
        canvas.paste(picture.convert("RGBA"))
    distances = [_outside(*canvases), _outside(*reversed(canvases))]
    largest = reduce(ImageChops.lighter, [band for distance in distances for band in distance.split()])
    return largest.point(lambda distance: 255 if distance > TOLERANCE else 0)


def _outside(picture: Image.Image, other: Image.Image) -> Image.Image:
    """Return how far each colour of a picture is from the range of those around the same place in another."""
    low, high = other.filter(ImageFilter.MinFilter(NEIGHBOURS)), other.filter(ImageFilter.MaxFilter(NEIGHBOURS))
    return ImageChops.lighter(ImageChops.subtract(picture, high), ImageChops.subtract(low, picture))


def in_red(mask: Image.Image) -> bytes:
    """Return a PNG that is red where a mask is set and white elsewhere."""
    buffer = io.BytesIO()
    Image.composite(Image.new("RGB", mask.size, "#dc0000"), Image.new("RGB", mask.size, "white"), mask).save(
        buffer, "PNG"
    )
    return buffer.getvalue()
