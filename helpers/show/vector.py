"""A figure as SVG, for notebooks that keep it beside the PNG: sharp at any size, its words still words.

matplotlib's own SVG carries a style sheet that would apply to the whole page, styles inside the tags, which some
viewers of notebooks strip (everything turns black: jupyter/nbconvert#1894, jupyter/nbviewer#1037), and links to the
addresses of its formats. This SVG has plain attributes alone. A figure drawn twice gives the same text.
Jupyter shows the PNG while a notebook is not trusted (jupyterlab/jupyterlab#9650).
"""

import io
import re
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"  # the first is the one measured with, the second as wide
DECIMALS = 2  # of a point, 1/72 inch
_DROPPED = ("metadata", "style")
_GEOMETRY = ("d", "x", "y", "width", "height", "viewBox", "transform", "points")


def keep_as_svg() -> None:
    """Let the notebook this runs in, if it is one, keep every figure as SVG too; elsewhere nothing happens."""
    try:
        from IPython import get_ipython  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        return
    shell = get_ipython()  # type: ignore[no-untyped-call, unused-ignore]
    if hasattr(shell, "kernel"):
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, as_svg)


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG: cropped as Jupyter crops it, words as text, without date, style sheet or foreign link."""
    written = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "figure"}):
        figure.savefig(written, format="svg", bbox_inches="tight", metadata={"Date": None})
    root = ElementTree.fromstring(written.getvalue())
    for element in root.iter():
        element.tag = _local(element.tag)
        element.text = (element.text or "").strip() or None
        for child in [child for child in element if _local(child.tag) in _DROPPED]:
            element.remove(child)
    referred = set(re.findall(r"(?:url\(|href=\")#([\w-]+)", written.getvalue()))
    for element in root.iter():
        _plain(element, referred)
    defaults = {"stroke-linejoin": "round", "stroke-linecap": "butt", "font-family": FONTS}
    named = {"xmlns": "http://www.w3.org/2000/svg", "data-drawn-by": f"Matplotlib {mpl.__version__}"}
    root.attrib = named | root.attrib | defaults
    ElementTree.indent(root, "")
    return ElementTree.tostring(root, encoding="unicode")


def _local(name: str) -> str:  # without its namespace
    return name.rpartition("}")[2]


def _plain(element: ElementTree.Element, referred: set[str]) -> None:
    """Give an element attributes without namespace or style, numbers rounded, an id only if something refers to it."""
    attributes = {_local(name): value for name, value in element.attrib.items()}
    style = (part.partition(":") for part in attributes.pop("style", "").split(";") if part.strip())
    attributes |= {name.strip(): value.strip() for name, _, value in style}
    attributes.pop("font-family", None)
    if attributes.get("font-size", "").endswith("px"):
        attributes["font-size"] = attributes["font-size"].removesuffix("px")
    if attributes.get("id") not in referred:
        attributes.pop("id", None)
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    for name in _GEOMETRY:
        if name in attributes:
            words = " ".join(attributes[name].split())
            attributes[name] = re.sub(r"-?\d+\.\d+", lambda one: f"{round(float(one[0]), DECIMALS) + 0:.9g}", words)
    element.attrib = attributes
