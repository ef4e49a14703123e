"""Read the named cells of the tables in HTML outputs."""

from collections.abc import Iterable, Iterator

from bs4 import BeautifulSoup, Tag

CELL = ["td", "th"]


def parse(html: str) -> BeautifulSoup:
    """Return the elements of an HTML output."""
    return BeautifulSoup(html, "html.parser", multi_valued_attributes=None)


def text_of(cell: Tag) -> str:
    """Return the text of a cell, its parts joined by a blank."""
    return " ".join(cell.stripped_strings)


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


def table_cells(html: str) -> Iterator[tuple[str, str]]:
    """Yield `row label/column label` and the text of each body cell of the tables of an HTML output.

    A label of several levels is joined by a blank. Without header cells in the body the first column labels.
    """
    for table in parse(html).find_all("table"):
        grid = _grid(table.find_all("tr"))
        heads = len(table.thead.find_all("tr")) if table.thead else 0
        for row in grid[heads:]:
            labels = max(sum(cell.name == "th" for cell in grid[heads]), 1)
            for x in range(labels, min(len(row), len(grid[heads]))):
                column = _label(head[x] for head in grid[:heads] if x < len(head))
                yield f"{_label(row[:labels])}/{column}", text_of(row[x])
