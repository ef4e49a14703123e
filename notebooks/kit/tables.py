"""Read HTML outputs: as a flat list of pieces to compare, and as the named cells of their tables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

AMBIGUOUS = "(more than one value has this name)"
CELL = ["td", "th"]


@dataclass(frozen=True)
class Piece:
    """An element (tag, with its attributes) or a text of HTML: how deep inside others, and its location in a table."""

    tag: str
    depth: int
    text: str = ""
    location: str = ""


def parse(html: str) -> BeautifulSoup:
    """Return the elements of an HTML output."""
    return BeautifulSoup(html, "html.parser", multi_valued_attributes=None)


def text_of(cell: Tag) -> str:
    """Return the text of a cell, its parts joined by a blank."""
    return " ".join(cell.stripped_strings)


def _pieces(parent: Tag, depth: int, locations: dict[int, str], location: str = "") -> Iterator[Piece]:
    """Yield the elements and texts inside an element."""
    for child in parent.children:
        if isinstance(child, Tag):
            inside = locations.get(id(child), location)
            attributes = (f"{key}={value}" for key, value in sorted(child.attrs.items()))
            yield Piece(" ".join([child.name, *attributes]), depth, location=inside)
            yield from _pieces(child, depth + 1, locations, inside)
        elif type(child) is NavigableString and child.strip():
            yield Piece("text", depth, child.strip(), location)


def html_pieces(html: str) -> list[Piece]:
    """Return the elements and texts of an HTML output in order, styles and scripts without their text."""
    document = parse(html)
    cells = (cell for table in document.find_all("table") for cell in _body_cells(table))
    locations = {id(cell): f"table, row '{row}', column '{column}'" for cell, row, column in cells}
    return list(_pieces(document, 0, locations))


def _grid(rows: Iterable[Tag]) -> list[list[Tag]]:
    """Return the cells of each row, every spanning cell repeated in each place it covers."""
    grid: list[dict[int, Tag]] = [{} for _ in rows]
    for y, row in enumerate(rows):
        x = 0
        for cell in row.find_all(CELL):
            width, height = (int(str(cell.get(name, "1"))) for name in ("colspan", "rowspan"))
            while x in grid[y]:
                x += 1
            for below in grid[y : y + height]:
                below.update(dict.fromkeys(range(x, x + width), cell))
            x += width
    return [[row[x] for x in sorted(row)] for row in grid]


def _label(cells: Iterable[Tag]) -> str:
    """Return the texts of cells joined by a blank, each spanning cell once."""
    return " ".join(filter(None, {id(cell): text_of(cell) for cell in cells}.values()))


def _body_cells(table: Tag) -> Iterator[tuple[Tag, str, str]]:
    """Yield each cell of the body with the labels of its row and its column.

    A label of several levels is joined by a blank. Without header cells in the body the first column labels.
    """
    grid = _grid(table.find_all("tr"))
    heads = len(table.thead.find_all("tr")) if table.thead else 0
    for row in grid[heads:]:
        labels = max(sum(cell.name == "th" for cell in grid[heads]), 1)
        for x in range(labels, min(len(row), len(grid[heads]))):
            yield row[x], _label(row[:labels]), _label(head[x] for head in grid[:heads] if x < len(head))


def table_cells(html: str) -> Iterator[tuple[str, str]]:
    """Yield `row label/column label` and the text of each body cell of the tables of an HTML output."""
    for table in parse(html).find_all("table"):
        yield from ((f"{row}/{column}", text_of(cell)) for cell, row, column in _body_cells(table))


def unambiguous(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the value of each name; AMBIGUOUS for a name with several values."""
    values: dict[str, str] = {}
    for name, value in named:
        values[name] = value if values.get(name, value) == value else AMBIGUOUS
    return values
