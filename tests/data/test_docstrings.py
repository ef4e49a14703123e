"""The collection of docstrings: what is read of a file, what becomes a passage or a query, and versions."""

import importlib.metadata
import re
from types import SimpleNamespace

import pytest

from helpers.data import docstrings, load_dataset
from helpers.data.docstrings import VERSIONS, is_prose
from notebooks.kit.notebooks import ROOT
from tests.data.files import put

SOURCE = '''"""What this module is about, in a sentence.

And a second paragraph, that says more about it.
"""

raise SystemExit("this file was imported")


class Box:
    """A box with a lid that can be opened and closed."""

    def open(self, hard):
        """Open the lid, if it is not open by now.

        The hinge creaks a little whenever it is cold outside.

        A third paragraph.
        """
        if hard:
            def inner():
                """Push the lid with all the force there is."""

    def close(self):
        """Short.

        A second paragraph of one that is too short to be a passage.
        """

    def shut(self):
        """Close the lid, gently or with a slam.

        Parameters
        ----------
        """

    def lift(self):
        """Open the lid, if it is not open by now.

        This stands behind a passage that came before.
        """
'''


def install(folder, monkeypatch, files: dict[str, str]):
    """Write the files of a library in place of the installed ones; its metadata lists them in no particular order."""
    paths = []
    for name, text in files.items():
        put(folder / name, text)
        paths.append(importlib.metadata.PackagePath(name))
        paths[-1].dist = SimpleNamespace(locate_file=lambda file: folder / file)
    monkeypatch.setattr(docstrings, "VERSIONS", {"box": "1.0"})
    monkeypatch.setattr(importlib.metadata, "files", lambda _: paths[::-1])


def test_first_paragraphs_are_passages_and_second_ones_queries(tmp_path, monkeypatch):
    """A query would be judged against the docstring of another function, or a list of parameters be a question."""
    install(tmp_path, monkeypatch, {"box/lid.py": SOURCE, "box/tests/test_lid.py": SOURCE, "box/readme.txt": SOURCE})
    data = load_dataset("docstrings")
    assert set(data.corpus) == {
        "What this module is about, in a sentence.",
        "A box with a lid that can be opened and closed.",
        "Open the lid, if it is not open by now.",
        "Push the lid with all the force there is.",
        "Close the lid, gently or with a slam.",
    }
    relevant = {query: data.corpus[data.relevant(row)[0]] for row, query in enumerate(data.queries)}
    assert relevant == {
        "And a second paragraph, that says more about it.": "What this module is about, in a sentence.",
        "The hinge creaks a little whenever it is cold outside.": "Open the lid, if it is not open by now.",
        "This stands behind a passage that came before.": "Open the lid, if it is not open by now.",
    }
    place = dict(zip(data.corpus, data.corpus_ids, strict=True))
    assert place["A box with a lid that can be opened and closed."] == "box/lid.py:9"


def test_the_order_does_not_follow_the_files(tmp_path, monkeypatch):
    """The first thousand would all come from one library, and be no sample of the rest."""
    texts = [f"Passage number {i} of those in order." for i in range(50)]
    source = "\n".join(f'class C{i}:\n    "{text}"' for i, text in enumerate(texts))
    install(tmp_path, monkeypatch, {"box/all.py": source, "box/lid.py": SOURCE})
    corpus = load_dataset("docstrings").corpus
    assert [text for text in corpus if text in texts] not in (texts, texts[::-1])
    assert corpus == load_dataset("docstrings").corpus


def test_a_query_that_fits_two_passages_is_none_and_files_that_do_not_parse_are_passed_over(tmp_path, monkeypatch):
    """One of many right answers would be judged; or one file in the syntax of a later Python would stop the lesson."""
    text = '"""A passage that is about the number {}.\n\nThe same words behind both of them, word for word.\n"""'
    files = {"box/a.py": text.format(1), "box/b.py": text.format(2), "box/bad.py": "def (:", "box/gone.py": ""}
    install(tmp_path, monkeypatch, {**files, "box/lid.py": SOURCE})
    (tmp_path / "box/gone.py").unlink()
    data = load_dataset("docstrings")
    assert not [query for query in data.queries if "word for word" in query]
    assert len(data.corpus) == 7


@pytest.mark.parametrize(
    ("paragraph", "prose"),
    [
        ("The values are computed anew each time they are asked for.", True),
        ("the values are computed anew each time they are asked for.", False),
        ("Parameters ---------- x : array of numbers that are added.", False),
        ("Args: the numbers that are added, and how many they are.", False),
        ("Things to know: - it is fast - it is wrong - it is free.", False),
        ("Too short.", False),
        ("No full stop at the end of these so many words", False),
    ],
)
def test_prose_is_told_from_what_is_no_sentence(paragraph, prose):
    """Lists of parameters and code would be queries."""
    assert is_prose(paragraph) == prose


def test_the_versions_are_those_of_the_lock():
    """The lesson would tell every reader that his libraries differ from the recorded ones, or none."""
    locked = dict(re.findall(r"^([\w.-]+)==([^\s;#]+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    assert {name: locked[name] for name in VERSIONS} == VERSIONS


def test_another_version_is_named(monkeypatch):
    """A reader whose numbers differ has to learn why; an empty collection would fail far from its cause."""
    monkeypatch.setattr(docstrings, "VERSIONS", {"numpy": "0.0.1", "no-such-library": "1.0"})
    assert docstrings.changed() == {"numpy": importlib.metadata.version("numpy"), "no-such-library": "not installed"}
    monkeypatch.setattr(docstrings, "VERSIONS", {"no-such-library": "1.0"})
    with pytest.raises(ModuleNotFoundError, match="no-such-library"):
        load_dataset("docstrings")


@pytest.mark.parametrize("given", ["queries", "qrels", "columns"])
def test_what_the_collection_cannot_take_is_refused(given):
    """A reader who names his own judgements, and forgets the data set, would evaluate this one instead."""
    with pytest.raises(ValueError, match=r"installed libraries|its own judgements"):
        load_dataset("docstrings", "test", **{given: "mine"})
