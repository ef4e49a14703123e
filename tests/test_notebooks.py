"""Every lesson, in both languages, executed with papermill and compared with what it has recorded."""

from __future__ import annotations

import pytest

from .tools.notebooks import LANGUAGES, ROOT, NotebookError, lesson_names
from .tools.run import report, run_lesson

LESSONS = [(language, name) for name in lesson_names(ROOT) for language in LANGUAGES]


def test_there_are_lessons() -> None:
    """The test below would pass because it found nothing to run."""
    assert LESSONS


@pytest.mark.parametrize(("language", "name"), LESSONS, ids=[f"{language}/{name}" for language, name in LESSONS])
def test_lesson(language: str, name: str) -> None:
    """A reader who runs the lesson would get something else than the page shows, or an error."""
    try:
        _, gaps = run_lesson(ROOT, language, name)
    except NotebookError as error:
        pytest.fail(str(error), pytrace=False)
    if gaps:
        pytest.fail(report(ROOT, language, name, gaps), pytrace=False)
