"""Every lesson, in both languages, executed with papermill and compared with what it has recorded."""

from __future__ import annotations

import pytest

from .tools.notebooks import LANGUAGES, ROOT, lesson_names
from .tools.run import verify

LESSONS = [(language, name) for name in lesson_names(ROOT) for language in LANGUAGES]


@pytest.mark.parametrize(("language", "name"), LESSONS, ids=[f"{language}/{name}" for language, name in LESSONS])
def test_lesson(language: str, name: str) -> None:
    """A reader who runs the lesson would get something else than the page shows, or an error."""
    verify(ROOT, language, name)
