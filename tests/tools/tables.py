"""Read HTML outputs: as a flat list of pieces to compare, and as tables whose cells have names."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(frozen=True)
class Piece:
    """An element (tag, with its attributes) or a text of an HTML output, and where in a table it stands."""

    tag: str
    text: str | None = None
    where: str = ""


@dataclass
class Cell:
    """A cell of a table as the source has it."""

    head: bool
    columns: int
    rows: int
    text: str = ""


@dataclass
class Table:
    """A table: its rows of cells and how many of them stand in the head."""

    rows: list[list[Cell]] = field(default_factory=list)
    heads: int = 0

    def grid(self) -> list[list[Cell]]:
        """Return the rows with every spanning cell repeated in each place it covers."""
        grid: list[dict[int, Cell]] = [{} for _ in self.rows]
        for y, row in enumerate(self.rows):
            x = 0
            for cell in row:
                while x in grid[y]:
                    x += 1
                for below in grid[y : y + cell.rows]:
                    below.update(dict.fromkeys(range(x, x + cell.columns), cell))
                x += cell.columns
        return [[row[x] for x in sorted(row)] for row in grid]

    def values(self) -> dict[str, str]:
        """Return the text of each body cell under `row label/column label`.

        A label of several levels is joined by a blank. Without header cells in the body the first column labels.
        """
        grid = self.grid()
        body = grid[self.heads :]
        if not body:
            return {}
        width = len(body[0])
        labels = max(sum(cell.head for cell in body[0]), 1)
        names = [_label(row[x] for row in grid[: self.heads] if x < len(row)) for x in range(width)]
        found: dict[str, str] = {}
        for row in body:
            for x, cell in enumerate(row[labels:width], labels):
                key = f"{_label(row[:labels])}/{names[x]}"
                found[key] = cell.text if found.get(key, cell.text) == cell.text else AMBIGUOUS
        return found


AMBIGUOUS = "(more than one value has this name)"


def _label(cells: object) -> str:
    """Return the texts of cells joined by a blank, each spanning cell once."""
    seen = {id(cell): cell.text for cell in cells if cell.text}  # type: ignore[attr-defined]
    return " ".join(seen.values())


class _Reader(HTMLParser):
    """Collect the pieces and the tables of an HTML output."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []
        self.tables: list[Table] = []
        self.cell: Cell | None = None
        self.skip = 0

    def where(self) -> str:
        """Return the place in the innermost table in words."""
        if self.cell is None:
            return ""
        table = self.tables[-1]
        row, head = table.rows[-1], table.rows[max(table.heads - 1, 0)]
        column = head[len(row) - 1].text if len(head) >= len(row) else ""
        return f"table, row '{row[0].text.strip()}', column '{column.strip() or len(row)}'"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self.tables.append(Table())
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1].rows:
            spans = [int(given.get(name) or 1) for name in ("colspan", "rowspan")]
            self.cell = Cell(tag == "th", *spans)
            self.tables[-1].rows[-1].append(self.cell)
        self.pieces.append(Piece(" ".join([tag, *(f"{k}={v}" for k, v in sorted(attrs, key=str))]), where=self.where()))
        self.skip += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        if tag == "thead" and self.tables:
            self.tables[-1].heads = len(self.tables[-1].rows)
        if tag in ("td", "th"):
            self.cell = None
        self.pieces.append(Piece(f"/{tag}"))
        self.skip -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if not text or self.skip:
            return
        if self.cell is not None:
            self.cell.text = f"{self.cell.text} {text}".strip()
        self.pieces.append(Piece("text", text, self.where()))


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


def html_pieces(html: str) -> list[Piece]:
    """Return the elements and texts of an HTML output in order."""
    return _read(html).pieces


def html_tables(html: str) -> list[Table]:
    """Return the tables of an HTML output."""
    return _read(html).tables
