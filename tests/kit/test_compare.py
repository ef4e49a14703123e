"""The comparison of recorded and fresh outputs: each change is found alone, each tolerated difference is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path

import pytest
from nbformat import NotebookNode

from notebooks.kit.cells import code_cells, is_volatile
from notebooks.kit.compare import NUMBER, close, compare
from notebooks.kit.execute import execute
from notebooks.kit.run import report
from tests.sample import NAME, code, notebook

Break = Callable[[NotebookNode], "str | None"]


def _streams(book: NotebookNode, volatile: bool = False) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    """Yield (cell, output) of each printed output."""
    for cell in code_cells(book):
        for output in cell.outputs:
            if output.get("name") == "stdout" and is_volatile(cell) == volatile:
                yield cell, output


def _next_digit(text: str) -> str:
    return text[:-1] + str((int(text[-1]) + 1) % 10)


def _number(pattern: str, new: Callable[[str], str], book: NotebookNode) -> str | None:
    """Replace the first printed number of a form and return the id of its cell."""
    for cell, output in _streams(book):
        for match in NUMBER.finditer(output.text):
            if re.fullmatch(pattern, match[0]):
                output.text = output.text[: match.start()] + new(match[0]) + output.text[match.end() :]
                return cell.id
    return None


def word(book: NotebookNode) -> str | None:
    """Change a printed word."""
    for cell, output in _streams(book):
        changed = re.sub(r"[a-z]{3,}", lambda m: m[0][::-1] + "x", output.text, count=1)
        if changed != output.text and "0x" not in output.text:
            output.text = changed
            return cell.id
    return None


def _html(book: NotebookNode) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    for cell in code_cells(book):
        for output in cell.outputs:
            if "<td>" in output.get("data", {}).get("text/html", "") and not is_volatile(cell):
                yield cell, output.data


def swapped_cells(book: NotebookNode) -> str | None:
    """Swap two neighbouring values of a displayed table."""
    pattern = re.compile(r"<td>([^<]*)</td>(\s*)<td>([^<]*)</td>")
    for cell, data in _html(book):
        for match in pattern.finditer(data["text/html"]):
            if match[1] != match[3]:
                swapped = f"<td>{match[3]}</td>{match[2]}<td>{match[1]}</td>"
                data["text/html"] = data["text/html"].replace(match[0], swapped, 1)
                return cell.id
    return None


def table_digit(book: NotebookNode) -> str | None:
    """Change the last shown digit of one value of a displayed table, as only the page shows it."""
    for cell, data in _html(book):
        match = re.search(r"<td>(\d\.\d{2,6})</td>", data["text/html"])
        if match:
            data["text/html"] = data["text/html"].replace(match[0], f"<td>{_next_digit(match[1])}</td>", 1)
            return cell.id
    return None


def lost_row(book: NotebookNode) -> str | None:
    """Take the last row out of a displayed table."""
    for cell, data in _html(book):
        data["text/html"] = re.sub(r"<tr>(?:(?!<tr>).)*</tr>\s*</tbody>", "</tbody>", data["text/html"], flags=re.S)
        return cell.id
    return None


def removed(volatile: bool, book: NotebookNode) -> str | None:
    """Remove the output of a cell."""
    cell = next(c for c in code_cells(book) if c.outputs and is_volatile(c) == volatile)
    cell.outputs.pop()
    return cell.id


def other_stream(book: NotebookNode) -> str | None:
    """Print to stderr what was printed to stdout."""
    for cell, output in _streams(book):
        output["name"] = "stderr"
        return cell.id
    return None


def other_data(book: NotebookNode) -> str | None:
    """Change a checksum in the provenance."""
    cell = code_cells(book)[-1]
    text = cell.outputs[0].text
    changed = re.sub(r"(sha256\"?: \")(\w)", lambda m: m[1] + ("0" if m[2] != "0" else "1"), text, count=1)
    cell.outputs[0].text = changed
    return cell.id if changed != text else None


def _drawing(old: str, new: str | Callable[[re.Match[str]], str], book: NotebookNode) -> str | None:
    """Replace the first part of a recorded SVG that a pattern finds and return the id of its cell."""
    for cell in code_cells(book):
        for output in cell.outputs:
            svg = output.get("data", {}).get("image/svg+xml", "")
            if (changed := re.sub(old, new, svg, count=1)) != svg and not is_volatile(cell):
                output.data["image/svg+xml"] = changed
                return str(cell.id)
    return None


last_digit = partial(_number, r"\d\.\d{2,6}", _next_digit)
integer = partial(_number, r"\d+", lambda text: str(int(text) + 1))
BREAKS: dict[str, tuple[Break, str]] = {
    "last digit": (last_digit, "number"),
    "integer": (integer, "number"),
    "long number by 2e-5": (partial(_number, r"\d\.\d{12,}", lambda text: repr(float(text) * 1.00002)), "number"),
    "word": (word, "text"),
    "swapped cells": (swapped_cells, "table, row"),
    "digit of a table": (table_digit, "table, row"),
    "lost row": (lost_row, "the structure of the HTML"),
    "no output": (partial(removed, False), "outputs (number and kind)"),
    "no volatile output": (partial(removed, True), "outputs (number and kind)"),
    "other stream": (other_stream, "outputs (number and kind)"),
    "other data": (other_data, "provenance /"),
    "moved mark": (
        partial(_drawing, r"(?<= L )([\d.]+)", lambda match: f"{float(match[0]) + 0.5:.2f}"),
        "figure, SVG",
    ),
    "other colour": (partial(_drawing, 'stroke="#000000"', 'stroke="#0072b2"'), "figure, SVG"),
    "other word": (partial(_drawing, r"(<text[^>]*>)([^<]+)", r"\1\2s"), "figure, SVG: words"),
    "lost mark": (partial(_drawing, r"<path[^>]*/>\n", ""), "figure, SVG"),
    "cut off": (partial(_drawing, r"(?s)<path.*", "<pa"), "figure, SVG"),
    "no number": (partial(_drawing, r"(?<= L )[\d.]+", "nan"), "figure, SVG"),
}


@pytest.mark.parametrize(("breaker", "what"), BREAKS.values(), ids=BREAKS)
def test_change_is_found_alone(lessons: dict[str, NotebookNode], breaker: Break, what: str) -> None:
    """A changed result would pass as recorded, or be reported in the wrong place."""
    broken = []
    for name, lesson in lessons.items():
        recorded = deepcopy(lesson)
        for cell in recorded.cells:
            cell.metadata.pop("verify", None)  # a tolerance, which another test is about
        fresh = deepcopy(recorded)
        cell = breaker(fresh)
        if cell is not None:
            gaps = compare(recorded, fresh)
            assert [gap.cell for gap in gaps] == [cell], name
            assert gaps[0].aspect.startswith(what)
            assert gaps[0].recorded != gaps[0].fresh
            broken.append(name)
    assert NAME in broken


def other_address(book: NotebookNode) -> None:
    """Show another memory address and another temporary folder."""
    for _, output in _streams(book):
        output.text = output.text.replace("0x0", "0x7f5c01234abc").replace("TMP", "/".join(["", "tmp", "abc_1234"]))


def drift(book: NotebookNode) -> None:
    """Move every number in full precision by 1e-9 of itself."""

    def moved(match: re.Match[str]) -> str:
        return repr(float(match[0]) * (1 + 1e-9)) if re.fullmatch(r"\d+\.\d{10,}", match[0]) else match[0]

    for _, output in _streams(book):
        output.text = NUMBER.sub(moved, output.text)


def other_time(book: NotebookNode) -> None:
    """Let volatile cells show other numbers."""
    for cell, output in _streams(book, volatile=True):
        if "provenance" not in cell.metadata.tags:
            output.text = NUMBER.sub("7.5", output.text)


def other_order(book: NotebookNode) -> None:
    """Write the provenance with its keys in another order, on another day."""
    output = code_cells(book)[-1].outputs[0]
    output.text = json.dumps(dict(reversed((json.loads(output.text) | {"date": "2001-02-03"}).items())))


def _data(book: NotebookNode, kind: str) -> Iterator[NotebookNode]:
    """Yield the data of each output that has this kind."""
    outputs = [output for cell in code_cells(book) for output in cell.outputs]
    return (output.data for output in outputs if kind in output.get("data", {}))


def other_blanks(book: NotebookNode) -> None:
    """Pad the columns of a printed table differently."""
    for data in _data(book, "text/html"):
        data["text/plain"] = re.sub(r" +", "   ", data["text/plain"])


def other_matplotlib(book: NotebookNode) -> None:
    """Show figures that another version of matplotlib drew."""
    for data in _data(book, "image/png"):
        data["image/png"] = ""
        data["image/svg+xml"] = '<svg xmlns="http://www.w3.org/2000/svg" data-drawn-by="Matplotlib 0.1"/>'


def rounded_otherwise(book: NotebookNode) -> None:
    """Move every mark of the figures' SVG by the last decimal, and name what is referred to otherwise."""
    for data in _data(book, "image/svg+xml"):
        moved = re.sub(r"(?<= L )[\d.]+", lambda match: f"{float(match[0]) + 0.01:.2f}", data["image/svg+xml"])
        data["image/svg+xml"] = re.sub(r'(id="|href="#|url\(#)', r"\1b", moved)


@pytest.mark.parametrize(
    "change",
    [other_address, drift, other_time, other_order, other_blanks, other_matplotlib, rounded_otherwise],
    ids=lambda f: f.__name__,
)
def test_tolerated(lessons: dict[str, NotebookNode], change: Callable[[NotebookNode], None]) -> None:
    """A difference that means nothing would fail the lesson on another machine or another day."""
    changed = []
    for name, recorded in lessons.items():
        fresh = deepcopy(recorded)
        change(fresh)
        if fresh != recorded:
            changed.append(name)
            assert compare(recorded, fresh) == [], name
    assert NAME in changed


@pytest.mark.parametrize(
    ("recorded", "fresh", "equal"),
    [
        ("0.912", "0.913", False),  # a last shown digit
        ("0.916667", "0.916668", False),  # six decimals are still rounded for a reader
        ("1.000000", "1.000001", False),
        ("0.912", "0.9120", True),  # the same number
        ("0.3298163165186628", "0.3298163168484791", True),  # 1e-9 apart
        ("0.3298163165186628", "0.3298196146818280", True),  # just within 1e-5
        ("0.3298163165186628", "0.3298229128449932", False),  # 2e-5 apart
        ("120", "121", False),
        ("120", "120.0", False),  # an integer that became a float
        ("-0.5", "0.5", False),
        ("-0.000", "0.000", True),
        ("0.034", "0.0", False),  # what too wide a tolerance lets through
        ("1.5e-05", "1.6e-05", False),
    ],
)
def test_numbers(recorded: str, fresh: str, equal: bool) -> None:
    """The rule for printed numbers would be looser or stricter than documented."""
    assert close(recorded, fresh) is equal
    assert close(fresh, recorded) is equal


def test_verify_metadata_loosens_only_its_cell(lessons: dict[str, NotebookNode]) -> None:
    """A documented tolerance would not hold, or hold for integers too."""
    recorded = deepcopy(lessons[NAME])
    cell = next(c for c in recorded.cells if c.id == "printed")
    cell.metadata["verify"] = NotebookNode(rtol=1e-2)
    fresh = deepcopy(recorded)
    assert last_digit(fresh) == "printed"
    assert compare(recorded, fresh) == []
    assert integer(fresh) == "printed"
    assert [gap.cell for gap in compare(recorded, fresh)] == ["printed"]


def test_versions_and_words_with_digits_are_text() -> None:
    """A version or a model name would be compared as a number within a tolerance."""
    assert NUMBER.findall("numpy 2.4.6, all-MiniLM-L6-v2, p017, 12.5ms, 1.5x") == []
    assert NUMBER.findall("score 0.912. [0.5, 1.] 1e-3 -2 (7)") == ["0.912", "0.5", "1.", "1e-3", "-2", "7"]


def test_bar_one_percent_higher(lessons: dict[str, NotebookNode], tmp_path: Path) -> None:
    """A figure could change without any test noticing."""
    recorded = lessons[NAME]
    cell = next(c for c in recorded.cells if c.id == "figure")
    source = cell.source.replace("[1.0, 0.5]", "[1.01, 0.5]")
    assert source != cell.source
    fresh = deepcopy(recorded)
    drawn = execute(notebook(code("figure", source)), "figure", root=tmp_path).cells[0]
    next(c for c in fresh.cells if c.id == "figure").outputs = drawn.outputs
    gaps = compare(recorded, fresh)
    assert [(gap.cell, gap.aspect) for gap in gaps] == [("figure", "figure, SVG")]


def test_report_names_everything(lessons: dict[str, NotebookNode], tmp_path: Path) -> None:
    """A failure would not say which notebook, cell and value, or how to record again."""
    fresh = deepcopy(lessons[NAME])
    table_digit(fresh)
    text = report(tmp_path, "en", NAME, compare(lessons[NAME], fresh))
    wanted = ["notebooks/en/00_sample.ipynb", "[scores]", "row 'system a', column 'recall'", "0.123457", "0.123458"]
    assert [part for part in [*wanted, "make record"] if part not in text] == []
