"""The translation check and the tools around it: each way to drift is found alone, and nothing marks cells in bulk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbformat import NotebookNode

from notebooks.kit import __main__ as cli
from notebooks.kit.cells import by_id, cell_hash
from notebooks.kit.check import check
from notebooks.kit.notebooks import LANGUAGES, lesson_path, read
from notebooks.kit.record import sync
from notebooks.kit.translation import bold_traps, glossary, typography, untranslated
from tests.sample import END_EN, NAME, Change, code, edit, markdown, replaced


def found(root: Path, name: str = NAME) -> list[tuple[str, str]]:
    """Return (cell, rule) of every problem of a lesson."""
    return [(p.cell, p.rule) for p in check(root, [name])]


def _added(book: NotebookNode) -> None:
    book.cells.append(markdown("more", "更多内容。", "More."))


def _moved(book: NotebookNode) -> None:
    book.cells.insert(0, book.cells.pop())


DRIFT: dict[str, tuple[str, Change, str, str]] = {
    "ZH code edited": ("zh", replaced("printed", "120", "121"), "printed", "source"),
    "ZH output edited": (
        "zh",
        lambda book: by_id(book)["printed"].outputs[0].update(text="best = 0.6667\nqueries: 121\n"),
        "printed",
        "outputs",
    ),
    "EN sentence edited": ("en", replaced("ties", "decides", "settles"), "ties", "stale"),
    "no hash": ("zh", lambda book: by_id(book)["ties"].metadata.pop("translation"), "ties", "stale"),
    "ZH cell removed": ("zh", lambda book: book.cells.remove(by_id(book)["ties"]), "ties", "missing"),
    "ZH cell added": ("zh", _added, "more", "extra"),
    "ZH code added": ("zh", lambda book: book.cells.insert(1, code("more", "1")), "more", "extra"),
    "ZH order": ("zh", _moved, "", "structure"),
    "ZH tags": ("zh", lambda book: by_id(book)["printed"].metadata.update(tags=["other"]), "printed", "metadata"),
    "ZH alt text in English": (
        "zh",
        lambda book: by_id(book)["figure"].metadata.mystnb.image.update(alt="Two bars."),
        "figure",
        "untranslated",
    ),
    "ZH cell in English": ("zh", lambda book: by_id(book)["ties"].update(source=END_EN), "ties", "untranslated"),
    "term missing": ("zh", replaced("ties", "段落", "东西"), "ties", "glossary"),
    "term barred": ("zh", replaced("intro", "是找到", "（查全率）是找到"), "intro", "glossary"),
    "half-width comma": ("zh", replaced("ties", "相同，", "相同,"), "ties", "half-width"),
    "bold trap": ("zh", replaced("intro", "**召回率**（Recall）", "**召回率（Recall）**"), "intro", "bold"),
    "soft line break": ("zh", replaced("ties", "相同，", "相同，\n"), "ties", "soft-break"),
    "space": ("zh", replaced("intro", "系统a达到", "系统 a达到"), "intro", "spacing"),
    "heading added": ("zh", replaced("ties", "## 并列", "## 并列\n\n## 更多"), "ties", "headings"),
    "link to the English page": ("zh", replaced("intro", "../zh/next.md", "../en/next.md"), "intro", "link"),
    "another link": ("zh", replaced("intro", "../zh/next.md", "../zh/other.md"), "intro", "link"),
}


@pytest.mark.parametrize(("language", "change", "cell", "rule"), DRIFT.values(), ids=DRIFT)
def test_drift_is_found_alone(project: Path, language: str, change: Change, cell: str, rule: str) -> None:
    """The Chinese edition could drift from the English one in this way and nobody would notice."""
    assert found(project) == []
    edit(project, change, language)
    assert set(found(project)) == {(cell, rule)}


def test_missing_twin(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lesson in one language only would pass, or end in a stack trace."""
    lesson_path(project, "zh", NAME).unlink()
    problems = check(project, [NAME])
    assert [(p.file, p.rule) for p in problems] == [("notebooks/zh/00_sample.ipynb", "missing")]
    assert cli.main(["--root", str(project), "record", NAME]) == 1
    assert "notebooks/zh/00_sample.ipynb does not exist" in capsys.readouterr().err


def test_sync_makes_the_twin_and_marks_nothing(project: Path) -> None:
    """A new lesson could count as translated before anybody has read it."""
    lesson_path(project, "zh", NAME).unlink()
    assert sync(project, NAME) == ["notebooks/zh/00_sample.ipynb"]
    rules = set(found(project))
    assert {("intro", "stale"), ("intro", "untranslated"), ("ties", "stale")} <= rules
    assert not any("translation" in c.metadata for c in read(lesson_path(project, "zh", NAME), project).cells)


def test_sync_carries_code_and_keeps_prose(project: Path) -> None:
    """Code would stay different, or a translator's text would be lost."""
    before = by_id(read(lesson_path(project, "zh", NAME), project))
    edit(project, replaced("printed", "120", "121"), "zh")
    edit(project, lambda book: by_id(book)["places"].outputs.pop(), "zh")
    edit(project, _moved, "zh")
    assert sync(project, NAME) == ["notebooks/zh/00_sample.ipynb"]
    assert found(project) == []
    assert by_id(read(lesson_path(project, "zh", NAME), project)) == before
    edit(project, _added, "zh")
    assert sync(project, NAME) == []
    assert found(project) == [("more", "extra")]


def test_accept_is_for_one_cell(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Accepting one cell would accept others, or one of another lesson with the same beginning."""
    edit(project, replaced("ties", "decides", "settles"), "en")
    edit(project, replaced("intro", "grow", "rise"), "en")
    for language in LANGUAGES:
        shutil.copy(lesson_path(project, language, NAME), lesson_path(project, language, "01_more"))
    run = ["--root", str(project), "accept"]
    for wrong in ([NAME], [NAME, "printed"], ["docs/zh/one.md", "docs/zh/two.md"], ["0", "ties"]):
        assert cli.main([*run, *wrong]) == 1
    assert "may be 00_sample, 01_more" in capsys.readouterr().err
    assert cli.main([*run, "00", "ties"]) == 0
    assert found(project) == [("intro", "stale")]
    assert {("intro", "stale"), ("ties", "stale")} <= set(found(project, "01_more"))


@pytest.mark.parametrize("name", ["README{}.md", "docs/{}/guide/start.md"])
def test_a_page_carries_the_mark(project: Path, name: str) -> None:
    """The Chinese README or a page of the site could fall behind, or exist in one language only."""
    twins = name.format("" if "README" in name else "en"), name.format("_zh" if "README" in name else "zh")
    english, chinese = (project / twin for twin in twins)
    front = "---\ntitle: x\n---\n" if "docs" in name else ""

    def rules() -> list[tuple[str, str]]:
        return [(p.file, p.rule) for p in check(project) if p.rule != "labels"]

    for page, text in ((english, "# Recall\n\nWhat it is.\n"), (chinese, "# 召回率\n\n它是什么。\n")):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(front + text, encoding="utf-8")
    for more in ("", "\nMore.\n"):
        english.write_text(english.read_text(encoding="utf-8") + more, encoding="utf-8")
        assert rules() == [(twins[1], "stale")]
        assert cli.main(["--root", str(project), "accept", twins[1]]) == 0
        assert rules() == []
    mark = cell_hash(twins[0], english.read_text(encoding="utf-8"))
    marked = f"{front}<!-- translation of {twins[0]}: {mark} -->\n\n# 召回率\n\n它是什么。\n"
    assert chinese.read_text(encoding="utf-8") == marked
    chinese.unlink()
    assert rules() == [(twins[1], "missing")]
    assert cli.main(["--root", str(project), "accept", twins[1]]) == 1


def test_names_code_and_formulas_need_no_translation() -> None:
    """A cell that is the same in every language would be called untranslated."""
    same = "## nDCG@10\n\n`evaluate(x)`\n\n$$a = b$$\n\nBAAI/bge-m3"
    assert untranslated(same, same) == []
    assert untranslated("See the table below.", "See the table below.") == ["See the table below."]


@pytest.mark.parametrize(
    "text",
    [
        "**召回率**（Recall）是找到的部分。",
        "见`f(x, y)`，$a, b$与[页](a_b.md)；时间12:30。",
        "- 第一项\n- 第二项\n\n1. 一\n2. 二\n\n| 列 | 值 |\n|:--|--:|\n| 甲 | 1 |",
        "<details>\n<summary>答案</summary>\n\n内容。\n\n</details>",
        "```{note}\n提示。\n```\n\n```python\nprint('中文, 代码')\n```",
        "## 1 概述\n\n英文句子Recall, precision and rank在此。",
    ],
)
def test_good_chinese_passes(text: str) -> None:
    """Correct Chinese Markdown would be refused."""
    assert list(typography(text)) == []
    assert list(bold_traps(text)) == []


def test_barred_name_may_be_told(project: Path) -> None:
    """A lesson could not tell its reader the other name of a term, or could use it after having told it."""
    edit(project, replaced("intro", "（Recall）", "（Recall，又称查全率）"), "zh")
    assert found(project) == []
    edit(project, replaced("intro", "是找到", "即查全率是找到"), "zh")
    assert found(project) == [("intro", "glossary")]


def test_glossary_is_consistent() -> None:
    """Two entries would contradict each other, or the list would hold a term twice."""
    terms = glossary()
    assert len({term.en.lower() for term in terms}) == len(terms) > 0
    allowed = {word for term in terms for word in (term.zh, *term.accepted)}
    assert [(t.en, word) for t in terms for word in t.avoid if any(word in good for good in allowed)] == []
