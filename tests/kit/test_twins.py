"""Chinese twins: prose quotes the collection word for word, and only what an output of its lesson shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from notebooks.kit.cells import by_id
from notebooks.kit.check import check
from notebooks.kit.notebooks import ROOT
from notebooks.kit.twins import COLLECTION, collection, text_problems, without_twins
from tests.sample import NAME, edit

ROWS = {
    "queries": {"q001": ("queries: 120", "1个查询"), "q002": ("shown by no output", "没有输出")},
    "corpus": {"p001": ("A <small> title", "小标题")},
}


@pytest.fixture
def tiny(project: Path) -> Path:
    """A checkout with a lesson and a collection of two queries and one passage, one query shown by an output."""
    for kind, field in (("queries", "text"), ("corpus", "title")):
        for column, language in enumerate(("en", "zh")):
            lines = [json.dumps({"id": key, field: both[column]}) for key, both in ROWS[kind].items()]
            (project / COLLECTION / f"{kind}.{language}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return project


def faults(root: Path, language: str, words: str) -> list[str]:
    """Return the messages about twins after words were added to the first cell of a lesson."""
    edit(root, lambda book: by_id(book)["intro"].update(source=by_id(book)["intro"].source + words), language)
    found = [p for p in check(root, [NAME]) if p.rule == "twin"]
    assert all((p.file, p.cell) == (f"notebooks/{language}/{NAME}.ipynb", "intro") for p in found)
    return [p.message for p in found]


def test_right_twin(tiny: Path) -> None:
    """A twin as the collection has it would be refused, or its number taken for one that English lacks."""
    before = check(tiny, [NAME])
    assert faults(tiny, "zh", "问的是“<!--twin:q001-->1个查询”。") == []
    assert check(tiny, [NAME]) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("问的是“<!--twin:q001-->2个查询”。", "the collection has '1个查询': copy it from there"),
        ("问的是“<!--twin:q009-->1个查询”。", "has no 'q009' in both languages"),
        ("问的是“<!--twin:q002-->没有输出”。", "no output of this lesson shows 'shown by no output' (q002)"),
        ("题为“<!--twin:p001-->小标题”。", "no output of this lesson shows 'A <small> title' (p001)"),
        ("问的是“<!--twin q001-->1个查询”。", "is no marker: write <!--twin:ID-->"),
        ("问的是“<!--twin:q001 1个查询”。", "is no marker: write <!--twin:ID-->"),
        ("\n\n- <!--twin:q001-->1个查询", "begins a line, which hides the line"),
    ],
)
def test_wrong_twin(tiny: Path, words: str, message: str) -> None:
    """A twin that the collection or the outputs do not bear out would stand in the Chinese lesson unnoticed."""
    found = faults(tiny, "zh", words)
    assert len(found) == 1
    assert message in found[0]
    assert "\n" not in found[0]


def test_escaped_output(tiny: Path) -> None:
    """A title with a sign that HTML escapes would count as not shown, though the table shows it."""
    shown = "<table><tr><th>A &lt;small&gt; title</th></tr></table>"
    edit(tiny, lambda book: by_id(book)["scores"].outputs[0].data.update({"text/html": shown}), "zh")
    assert faults(tiny, "zh", "题为“<!--twin:p001-->小标题”。") == []


def test_pages(tiny: Path) -> None:
    """A page, which has no outputs of its own, would not be compared with the collection."""
    assert not list(text_problems("“<!--twin:q002-->没有输出”", "page", "", tiny))
    assert len(list(text_problems("“<!--twin:q002-->有输出”", "page", "", tiny))) == 1


def test_numbers_of_a_twin(tiny: Path) -> None:
    """Words that only look like a twin would be spared the comparison with the English text."""
    assert without_twins("甲<!--twin:q001-->1个查询乙<!--twin:q001-->2个", tiny) == "甲乙2个"


def test_collection_is_there() -> None:
    """The constant would name a folder that the collection has left, and every twin would be refused."""
    known = collection(ROOT)
    assert {"q001", "p001"} <= set(known)
    assert all(all(both) for both in known.values())
