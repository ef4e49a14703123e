"""A lesson small enough to record in seconds that holds one of everything the tools look at."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from notebooks.kit.cells import by_id, cell_hash, output_hashes
from notebooks.kit.notebooks import LANGUAGES, ROOT, dumps, lesson_path, read

NAME = "00_sample"

INTRO_EN = """# A small lesson

How does recall grow with the cutoff? **Recall** is what was found of what there is. System a reaches \
<!--fig:scores/system a/recall-->0.123 and another <!--fig:printed/best-->66.7%. The 95% confidence interval is no \
result, and <!--nofig: an invented value-->0.55 is only cited. \
See [the next page](../en/next.md) and `evaluate(x, 0.25)`."""
INTRO_ZH = """# 一节小课

召回率如何随截断位置增长？**召回率**（Recall）是找到的部分与全部之比。系统a达到<!--fig:scores/system a/recall-->0.123，\
另一个达到<!--fig:printed/best-->66.7%。95%置信区间不是结果，<!--nofig: an invented value-->0.55只是引用。\
参见[下一页](../zh/next.md)和`evaluate(x, 0.25)`。"""
END_EN = "## Ties\n\nTwo passages with one score share a rank, and $s_1 = s_2$ decides nothing."
END_ZH = "## 并列\n\n两个得分相同的段落名次相同，$s_1 = s_2$什么也决定不了。"

CODE = {
    "setup": (["parameters"], "cutoffs = [1, 5, 10]"),
    "scores": ([], """\
import pandas as pd

frame = {"recall": [0.1234567890123, 2 / 3], "mrr": [0.5, 0.25], "hits": [3, 4]}
pd.DataFrame(frame, index=["system a", "system b"])"""),
    "printed": ([], """\
print(f"best = {2 / 3:.4f}")
print("queries:", 120)
print("in full", 0.12345678901234567, 54.32109876543)"""),
    "figure": ([], """\
import matplotlib.pyplot as plt
from helpers.show.vector import keep_as_svg

figure, axis = plt.subplots(figsize=(3, 2))
axis.bar(["a", "b"], [1.0, 0.5])
axis.set_ylim(0, 1.2)
keep_as_svg()
plt.show()"""),
    "places": ([], """\
import tempfile

print(object())
print(tempfile.mkdtemp())"""),
    "timing": (["volatile"], """\
import time

print(f"{time.perf_counter():.6f} s")"""),
    "origin": (["volatile", "provenance"], """\
import datetime
import json

data = {"name": "none", "sha256": "ab12"}
found = {"date": datetime.date.today().isoformat(), "packages": {"pandas": pd.__version__}, "data": data}
print(json.dumps(found, indent=1, sort_keys=True))"""),
}  # fmt: skip
LISTED = """
["00_sample".cells]
timing = ["volatile", "a time"]
"""
ALT = {"en": "Two bars, the second half as high.", "zh": "两根柱子，第二根的高度是第一根的一半。"}


def markdown(cell_id: str, source: str, english: str = "") -> NotebookNode:
    """Return a markdown cell, marked as the translation of english if that is given."""
    metadata = {"translation": {"of": cell_hash(cell_id, english)}} if english else {}
    return new_markdown_cell(source, id=cell_id, metadata=NotebookNode(metadata))


def code(cell_id: str, source: str, tags: tuple[str, ...] | list[str] = ()) -> NotebookNode:
    """Return a code cell that was not executed yet."""
    return new_code_cell(source, id=cell_id, metadata=NotebookNode(tags=list(tags)) if tags else NotebookNode())


def notebook(*cells: NotebookNode) -> NotebookNode:
    """Return a notebook of these cells."""
    return new_notebook(cells=list(cells))


def sample(language: str) -> NotebookNode:
    """Return the sample lesson in one language, not executed."""
    middle = [code(name, source, tags) for name, (tags, source) in CODE.items()]
    middle[3].metadata["mystnb"] = {"image": {"alt": ALT[language]}}
    if language == "en":
        return notebook(markdown("intro", INTRO_EN), *middle, markdown("ties", END_EN))
    return notebook(markdown("intro", INTRO_ZH, INTRO_EN), *middle, markdown("ties", END_ZH, END_EN))


def put(root: Path, english: NotebookNode, chinese: NotebookNode, name: str = NAME) -> None:
    """Write a lesson in both languages below root, with the project's glossary beside it."""
    for language, book in (("en", english), ("zh", chinese)):
        path = lesson_path(root, language, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dumps(book), encoding="utf-8")
    (root / "docs").mkdir(exist_ok=True)
    shutil.copy(ROOT / "docs" / "glossary.yml", root / "docs" / "glossary.yml")
    (root / "docs" / "checks.toml").write_text(LISTED, encoding="utf-8")
    shutil.copy(ROOT / "constraints.txt", root)


Change = Callable[[NotebookNode], object]


def edit(root: Path, change: Change, *languages: str, name: str = NAME, recorded: bool = False) -> None:
    """Apply a change to a lesson, in both languages unless some are named; its outputs may then pass as recorded."""
    for language in languages or LANGUAGES:
        path = lesson_path(root, language, name)
        book = read(path, root)
        change(book)
        if recorded:
            book.metadata["outputs"] = output_hashes(book)
        path.write_text(dumps(book), encoding="utf-8")


def replaced(cell: str, old: str, new: str) -> Change:
    """Replace a part of a cell's source."""

    def change(book: NotebookNode) -> None:
        source = by_id(book)[cell].source
        assert old in source
        by_id(book)[cell].source = source.replace(old, new, 1)

    return change
