"""Compare recorded figures in SVG, read them, and find content that no page may hold."""

import itertools
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

NEAR = 0.25  # points of 1/72 inch, a third of a pixel on a page: no eye sees less
SVG_LIMIT = 100_000  # bytes
GEOMETRY = ("d", "height", "points", "transform", "viewBox", "width", "x", "y")
ELEMENTS = {"clipPath", "defs", "g", "path", "rect", "svg", "text", "tspan", "use"}
WORDS = re.compile(r"(?<=>)[^<>\n]+(?=</)")

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_COORDINATES = re.compile(rf' (?:{"|".join(GEOMETRY)})="[^"]*"')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_ID = re.compile(r'( id="|href="#|url\(#)([\w-]+)')
_INSIDE = re.compile(r"(?:url\()?#[\w-]+\)?")


def read_svg(text: str) -> ElementTree.Element:
    """Return the root of an SVG, names without the namespace. Raises ValueError if it is none, or declares entities."""
    if "<!" in text:
        raise ValueError("it has a document type, a comment or entities")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no XML: {error}") from error
    for element in root.iter():
        element.tag = element.tag.removeprefix(_NAMESPACE)
    return root


def _lines(svg: str) -> Iterator[tuple[str, str, list[float]]]:
    """Yield each line of an SVG without its words, ids counted; the same without its coordinates; the coordinates."""
    ids = dict[str, str]()
    counted = _ID.sub(lambda match: match[1] + ids.setdefault(match[2], f"id{len(ids)}"), WORDS.sub("", svg))
    for line in counted.split("\n"):
        numbers = [float(number) for match in _COORDINATES.findall(line) for number in _NUMBER.findall(match)]
        yield line, _COORDINATES.sub(lambda match: _NUMBER.sub("#", match[0]), line), numbers


def unlike(recorded: str, fresh: str) -> tuple[str, str] | None:
    """Return both sides of where two SVGs differ, coordinates by more than NEAR; None if they do not, words apart."""
    none: tuple[str, str, list[float]] = ("(no such line)", "", [])
    pairs = itertools.zip_longest(_lines(recorded), _lines(fresh), fillvalue=none)
    for (old, drawn, before), (new, redrawn, after) in pairs:
        if drawn != redrawn or any(abs(a - b) > NEAR + 1e-9 for a, b in zip(before, after, strict=True)):
            at = max(0, next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0) - 20)
            return old[at : at + 60], new[at : at + 60]
    return None


def svg_fault(text: str) -> str:
    """Return what could run, load or restyle a page in an SVG, as a message; empty if there is nothing."""
    size = len(text.encode())
    if size > SVG_LIMIT:
        return f"an SVG of {size / 1000:.0f} kB, allowed are {SVG_LIMIT / 1000:.0f} kB: draw fewer points"
    try:
        root = read_svg(text)
    except ValueError as error:
        return f"an SVG that cannot be shown: {error}"
    for element in root.iter():
        if element.tag not in ELEMENTS:
            return f"an SVG with <{element.tag}>: draw with helpers.show"
        for name, value in element.attrib.items():
            leads = "href" in name or "url(" in value.lower()
            if name.startswith("on") or name in ("style", "class") or (leads and not _INSIDE.fullmatch(value)):
                return f'an SVG with {name}="{value[:40]}" in <{element.tag}>: draw with helpers.show'
    return "" if root.tag == "svg" else f"an SVG that begins with <{root.tag}>"
