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


def _label(cells: Iterable[Tag]) -> str:
    """Return the texts of cells joined by a blank."""
    return " ".join(filter(None, map(text_of, cells)))


def table_cells(html: str) -> Iterator[tuple[str, str]]:
    """Yield `row label/column label` and the text of each body cell of the tables of an HTML output.

    A label of several levels is joined by a blank. Without header cells in the body the first column labels.
    """
    for table in parse(html).find_all("table"):
        rows = [row.find_all(CELL) for row in table.find_all("tr")]
        heads = len(table.thead.find_all("tr")) if table.thead else 0
        for row in rows[heads:]:
            labels = max(sum(cell.name == "th" for cell in rows[heads]), 1)
            for x in range(labels, len(row)):
                column = _label(head[x] for head in rows[:heads] if x < len(head))
                yield f"{_label(row[:labels])}/{column}", text_of(row[x])
