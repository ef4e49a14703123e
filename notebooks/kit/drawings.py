"""Read a recorded figure in SVG: its elements and words, content that no page may hold, and its matplotlib version."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass

NEAR = 0.25  # points of 1/72 inch, a third of a pixel on a page: no eye sees less
SVG_LIMIT = 100_000  # bytes
GEOMETRY = {"d", "height", "points", "transform", "viewBox", "width", "x", "y"}
ELEMENTS = {"clipPath", "defs", "g", "path", "rect", "svg", "text", "tspan", "use"}

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_INSIDE = re.compile(r"(?:url\()?#[\w-]+\)?")


@dataclass(frozen=True)
class Part:
    """An element of an SVG: its name, its attributes (ids counted in the order they appear) and its own words."""

    tag: str
    attributes: dict[str, str]
    text: str


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


def drawn_by(text: str) -> str:
    """Return the version of the matplotlib that drew an SVG, empty if it does not say."""
    match = re.search(r'data-drawn-by="Matplotlib ([\w.]+)"', text)
    return match[1] if match else ""


def parts(text: str) -> Iterator[Part]:
    """Yield the elements of an SVG in order. Raises ValueError if it cannot be read."""
    root, ids = read_svg(text), dict[str, str]()
    for element in root.iter():
        if name := element.get("id"):
            ids[name] = f"id{len(ids)}"
    for element in root.iter():
        attributes = {}
        for name, value in element.attrib.items():
            if name == "id" or (_INSIDE.fullmatch(value) and name in ("href", "clip-path")):
                value = re.sub(r"[\w-]+(?=\)?$)", lambda match: ids.get(match[0], match[0]), value)
            attributes[name] = value
        yield Part(element.tag, attributes, (element.text or "").strip())


def unlike(recorded: Part, fresh: Part) -> tuple[str, str] | None:
    """Return both sides of where two elements differ, coordinates by more than NEAR; None if they do not."""
    if recorded.tag != fresh.tag:
        return f"<{recorded.tag}>", f"<{fresh.tag}>"
    for name in sorted(recorded.attributes.keys() | fresh.attributes.keys()):
        old, new = (part.attributes.get(name, "") for part in (recorded, fresh))
        if old != new and not (name in GEOMETRY and _near(old, new)):
            at = max(0, next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0) - 20)
            return f"<{recorded.tag}> {name}: {old[at : at + 60]}", f"<{fresh.tag}> {name}: {new[at : at + 60]}"
    return None


def _near(recorded: str, fresh: str) -> bool:
    if _NUMBER.sub("#", recorded) != _NUMBER.sub("#", fresh):
        return False
    pairs = zip(_NUMBER.findall(recorded), _NUMBER.findall(fresh), strict=True)
    return all(abs(float(a) - float(b)) <= NEAR + 1e-9 for a, b in pairs)


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
