"""A collection of nearly thirty thousand real texts without a download: the docstrings of installed libraries.

The task is known-item search. The corpus is the first paragraphs of the docstrings, the summaries; a query is the
second paragraph of a docstring, and its only relevant passage is the first paragraph of the same docstring. Source
files are read, never imported, and not copied into this package.
"""

import ast
import contextlib
import hashlib
import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers.data.dataset import RetrievalDataset

NAME = "docstrings"
SHORTEST, LONGEST = 30, 600  # characters of a paragraph

# The libraries to read, and the versions with which the lessons were recorded. Further libraries take too long:
# transformers alone takes as long as all of these and adds a third more texts.
VERSIONS = {
    "numpy": "2.4.6",
    "scipy": "1.17.1",
    "pandas": "3.1.1",
    "scikit-learn": "1.9.1",
    "matplotlib": "3.11.2",
    "networkx": "3.6.1",
    "sympy": "1.14.0",
    "sentence-transformers": "6.2.0",
    "datasets": "5.2.0",
    "huggingface_hub": "2.4.0",
    "accelerate": "1.15.0",
    "peft": "0.21.2",
}


def load(libraries: Iterable[str] | None = None) -> RetrievalDataset:
    """Collect passages and queries from installed libraries, by default all of ``VERSIONS``.

    Both are in the order of their SHA-256, which depends on the texts alone and makes the first n a random sample.

    A passage is a first paragraph of 30 to 600 characters, without duplicates. A query is a second paragraph of that
    length, in prose (it starts with a capital letter, ends with a full stop, and contains no code or list), that
    follows exactly one passage and is not a passage itself. Test files are skipped.
    """
    corpus: dict[str, str] = {}
    summaries: dict[str, set[str]] = {}  # of each query
    query_place: dict[str, str] = {}
    for place, (passage, *rest) in (
        docstring for library in libraries or VERSIONS for docstring in _docstrings(library)
    ):
        if SHORTEST <= len(passage) <= LONGEST:
            corpus.setdefault(passage, place)
            for query in filter(is_prose, rest[:1]):
                summaries.setdefault(query, set()).add(passage)
                query_place.setdefault(query, place)
    if not corpus:
        raise ModuleNotFoundError(f"{NAME!r} is read from {', '.join(VERSIONS)}; none of them is installed.")
    corpus = {passage: corpus[passage] for passage in sorted(corpus, key=_shuffled)}
    row = {passage: number for number, passage in enumerate(corpus)}
    known = [query for query, passages in summaries.items() if len(passages) == 1 and query not in row]
    queries = {query: row[min(summaries[query])] for query in sorted(known, key=_shuffled)}
    return RetrievalDataset(
        name=NAME,
        queries=list(queries),
        corpus=list(corpus),
        qrels=[{passage: 1} for passage in queries.values()],
        query_ids=[query_place[query] for query in queries],
        corpus_ids=list(corpus.values()),
    )


def changed() -> dict[str, str]:
    """Return the installed versions of the libraries that differ from the recorded ones, so that texts differ."""
    installed = {library: "not installed" for library in VERSIONS}
    for library in VERSIONS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            installed[library] = importlib.metadata.version(library).partition("+")[0]
    return {library: version for library, version in installed.items() if version != VERSIONS[library]}


def is_prose(paragraph: str) -> bool:
    """Return whether a paragraph is sentences of the right length, not code, a list, a table or a heading."""
    code = re.search(r"^\w+( \w+)?:|>>>|::|:param|--|==|\s[-*+] ", paragraph)
    fits = SHORTEST <= len(paragraph) <= LONGEST
    return fits and paragraph[0].isupper() and paragraph.endswith(".") and code is None


def _shuffled(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _docstrings(library: str) -> Iterator[tuple[str, list[str]]]:
    files: list[importlib.metadata.PackagePath] = []
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        files = importlib.metadata.files(library) or []
    for file in sorted(files, key=str):
        if file.suffix != ".py" or ".." in file.parts or {"tests", "test"} & set(file.parts):
            continue
        waiting: list[ast.AST] = []
        with contextlib.suppress(OSError, SyntaxError, ValueError):
            waiting.append(ast.parse(Path(str(file.locate())).read_bytes()))
        while waiting:
            node = waiting.pop()
            fields = ("body", "orelse", "handlers", "finalbody")
            waiting += [child for field in fields for child in getattr(node, field, [])][::-1]
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
                text := ast.get_docstring(node)
            ):
                place = f"{file.as_posix()}:{getattr(node, 'lineno', 1)}"
                yield place, [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
