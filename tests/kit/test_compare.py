"""The comparison of recorded and fresh outputs: each change is found alone, each tolerated difference is not."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path

import pytest
from nbformat import NotebookNode

from notebooks.kit.cells import by_id
from notebooks.kit.compare import NUMBER, close, compare
from notebooks.kit.notebooks import lesson_path, read
from tests.sample import NAME


@pytest.fixture
def recorded(library: Path) -> NotebookNode:
    """Return the sample lesson as it was recorded."""
    return read(lesson_path(library, "en", NAME), library)


def changed(book: NotebookNode, cell: str, old: str, new: str, count: int = 1) -> NotebookNode:
    """Return a copy with a pattern replaced in all texts of a cell's outputs."""
    fresh = deepcopy(book)
    for output in by_id(fresh)[cell].outputs:
        texts = [(output, "text")] if "text" in output else [(output.data, mime) for mime in output.data]
        for holder, key in texts:
            holder[key] = re.sub(old, new, holder[key], count=count)
    assert fresh != book
    return fresh


BREAKS: dict[str, tuple[str, str, str, str]] = {
    "last digit": ("printed", "0.6667", "0.6668", "number, line 1"),
    "integer": ("printed", "120", "121", "number, line 2"),
    "long number by 2e-5": ("printed", r"0.12345678\d+", "0.12345925812345", "number, line 3"),
    "word": ("printed", "best", "worst", "text, line 1"),
    "row of a table": ("scores", r"(system b.*?)0\.25", r"\g<1>0.35", "number, line 3 ('system b"),
    "digit on the page": ("scores", "<td>0.123457", "<td>0.123458", "number, line"),
    "lost row": ("scores", r"(?s)<tr>(?:(?!<tr>).)*</tr>\s*</tbody>", "</tbody>", "text, line"),
    "other data": ("origin", "ab12", "ab13", "provenance /data/sha256"),
    "other version": ("origin", r'"pandas": "', r'"pandas": "9', "provenance /packages/pandas"),
    "moved mark": ("figure", r"(?<= L )(\d+)(?:\.\d+)?", r"\1.99", "figure, SVG"),
    "other colour": ("figure", 'stroke="#000000"', 'stroke="#0072b2"', "figure, SVG"),
    "other word": ("figure", r"(<text[^>]*>)([^<]+)", r"\1\2s", "figure, SVG: words"),
    "lost mark": ("figure", r"<path[^>]*/>\n", "", "figure, SVG"),
    "cut off": ("figure", r"(?s)<path.*", "<pa", "figure, SVG"),
    "no number": ("figure", r"(?<= L )[\d.]+", "nan", "figure, SVG"),
}


@pytest.mark.parametrize(("cell", "old", "new", "aspect"), BREAKS.values(), ids=BREAKS)
def test_change_is_found_alone(recorded: NotebookNode, cell: str, old: str, new: str, aspect: str) -> None:
    """A changed result would pass as recorded, or be reported in the wrong place."""
    [gap] = compare(recorded, changed(recorded, cell, old, new))
    assert (gap.cell, gap.aspect.startswith(aspect)) == (cell, True), gap
    assert gap.recorded != gap.fresh


@pytest.mark.parametrize("cell", ["printed", "timing"])
def test_a_lost_output_is_found(recorded: NotebookNode, cell: str) -> None:
    """A cell that prints nothing any more would pass, or one that prints to the wrong stream."""
    for change in (lambda outputs: outputs.pop(), lambda outputs: outputs[0].update(name="stderr")):
        fresh = deepcopy(recorded)
        change(by_id(fresh)[cell].outputs)
        assert [(gap.cell, gap.aspect) for gap in compare(recorded, fresh)] == [(cell, "outputs (number and kind)")]


TOLERATED: dict[str, tuple[str, str, str, int]] = {
    "address": ("places", "0x0", "0x7f5c01234abc", 0),
    "folder": ("places", "TMP", "/".join(["", "tmp", "abc_1234"]), 0),
    "folder of macOS": ("places", "TMP", "/".join(["", "var", "folders", "a1", "b2", "T", "tmpq"]), 0),
    "drift": ("printed", r"0.12345678\d+", "0.12345678911234567", 0),
    "time": ("timing", r"[\d.]+", "7.5", 0),
    "day": ("origin", r'"date": "[^"]+"', '"date": "2001-02-03"', 0),
    "blanks": ("scores", r"(?<=\S) +", "   ", 0),
    "matplotlib": ("figure", r"(?s).*Matplotlib.*", '<svg data-drawn-by="Matplotlib 0.1"/>', 1),
    "rounding": ("figure", r"(?<= L )(\d+\.\d)\d", r"\g<1>1", 0),
    "names of parts": ("figure", r'(id="|href="#|url\(#)', r"\1b", 0),
}


@pytest.mark.parametrize(("cell", "old", "new", "count"), TOLERATED.values(), ids=TOLERATED)
def test_tolerated(recorded: NotebookNode, cell: str, old: str, new: str, count: int) -> None:
    """A difference that means nothing would fail the lesson on another machine or another day."""
    assert compare(recorded, changed(recorded, cell, old, new, count)) == []


@pytest.mark.parametrize(
    ("recorded", "fresh", "equal"),
    [
        ("0.912", "0.913", False),  # a last shown digit
        ("0.916667", "0.916668", False),  # six decimals are still rounded for a reader
        ("1.000000", "1.000001", False),
        ("0.912", "0.9120", True),  # the same number
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
    assert close(recorded, fresh) is close(fresh, recorded) is equal


def test_verify_metadata_loosens_only_its_cell(recorded: NotebookNode) -> None:
    """A documented tolerance would not hold, or hold for integers too."""
    by_id(recorded)["printed"].metadata["verify"] = NotebookNode(rtol=1e-2)
    assert compare(recorded, changed(recorded, "printed", "0.6667", "0.6668")) == []
    assert len(compare(recorded, changed(recorded, "printed", "120", "121"))) == 1


def test_versions_and_words_with_digits_are_text() -> None:
    """A version or a model name would be compared as a number within a tolerance."""
    assert NUMBER.findall("numpy 2.4.6, all-MiniLM-L6-v2, p017, 12.5ms, 1.5x") == []
    assert NUMBER.findall("score 0.912. [0.5, 1.] 1e-3 -2 (7)") == ["0.912", "0.5", "1.", "1e-3", "-2", "7"]
