"""The recorded report that "Your own model and data" shows is the one that its command writes today."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers.data import load_dataset
from helpers.report.page import catalogue
from tests.report import sample

MADE_WITH = "|".join(catalogue(language)["page"]["made_with"] for language in sample.COMMANDS)
NUMBER = re.compile(r"\d+\.\d+")


def results(path: Path) -> str:
    """Return the text of a report up to what depends on the day and the machine."""
    main = path.read_text(encoding="utf-8").partition("<main>")[2]
    return re.sub(r"<[^>]+>", " ", re.split(f"<h2>(?:{MADE_WITH})<", main)[0])


@pytest.mark.parametrize("language", sample.COMMANDS)
def test_the_recorded_report_belongs_to_the_collection_as_it_is(language: str):
    """The page would show scores of judgements that have changed since, or other ones than the page on differences."""
    text = results(sample.FOLDER / f"report.{language}.html")
    figures = json.loads((sample.FOLDER / "differences.json").read_text(encoding="utf-8"))
    assert load_dataset(f"pocket-{language}").sha256 in text
    if language == "en":  # on whose data the page on differences is
        assert f"{figures['formula']['ndcg@10']:.3f}" in text
        assert f"{figures['pool']['BM25']:.3f}" in text


@pytest.mark.parametrize("language", sample.COMMANDS)
def test_the_page_names_the_command_of_its_report(language: str):
    """A reader's first command would give another report than the one above it."""
    page = sample.FOLDER.parent / language / "own_model.md"
    assert f"\n{sample.COMMANDS[language]}\n" in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("language", sample.COMMANDS)
def test_the_recorded_report_is_what_its_command_writes(language: str, tmp_path: Path):
    """The page would show a report that nobody gets any more."""
    sample.write(language, tmp_path / "report.html")
    written = results(tmp_path / "report.html")
    recorded = results(sample.FOLDER / f"report.{language}.html")
    assert NUMBER.sub("0", written) == NUMBER.sub("0", recorded), "run python -m tests.report.sample"
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (written, recorded)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.0015), "run python -m tests.report.sample"
