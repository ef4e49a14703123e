"""The pocket collection as pages show it: texts, grades, and the recorded rankings of rankings.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from docs.site.project import Edition

FOLDER = ("helpers", "data", "bundled", "pocket")
ANSWERS = 2  # a passage of this grade answers the query
SYSTEMS = {"en": {"dense": "MiniLM", "BM25": "BM25"}, "zh": {"dense": "multilingual", "BM25": "BM25"}}
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\s[A-Z]\.)\s+|(?<=[。！？])")


@dataclass(frozen=True)
class Pocket:
    """One language of the collection.

    Attributes:
        passages: title and text of each passage, by id.
        queries: text of each query, by id.
        grades: of each query, by passage; judged passages alone.
        lists: of each query, the first ten passages of each system, by the system's name.
        later: of each query, the rank and the passage of a system's first answer where it is among a hundred, not ten.
        sentences: of each query, and of the question in ``suggested``, by a passage that answers it, the number of its
            sentence nearest to the query.
        suggested: of the question that a page suggests beside the queries, by its text, the same as ``lists``.
        means: nDCG@10 of each system.
        stop: words that word systems leave out.
    """

    passages: dict[str, tuple[str, str]]
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]
    lists: dict[str, dict[str, list[str]]]
    later: dict[str, dict[str, list[Any]]]
    sentences: dict[str, dict[str, int]]
    suggested: dict[str, dict[str, list[str]]]
    means: dict[str, float]
    stop: list[str]

    def first_answer(self, query: str, system: str) -> tuple[int, str]:
        """Return the rank and the id of the first passage that answers, among a hundred; 0 and "" where none does."""
        grades = self.grades[query]
        for rank, passage in enumerate(self.lists[query][system], 1):
            if grades.get(passage, 0) >= ANSWERS:
                return rank, passage
        rank, passage = self.later.get(query, {}).get(system, (0, ""))
        return rank, passage

    def sentence(self, query: str, answer: str) -> str:
        """Return the sentence of an answer that is nearest to the query, by the dense model."""
        return in_sentences(self.passages[answer][1])[self.sentences[query][answer]]


def in_sentences(text: str) -> list[str]:
    """Return the sentences of a passage, in English or Chinese."""
    return [sentence for sentence in SENTENCE_END.split(text) if sentence]


@cache
def read_pocket(edition: Edition) -> Pocket:
    """Read the collection and its rankings in the language of an edition."""
    folder = edition.root.joinpath(*FOLDER)

    def rows(name: str) -> list[dict[str, str]]:
        text = (folder / f"{name}.{edition.language}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, _, passage, grade = line.split("\t")
        grades.setdefault(query, {})[passage] = int(grade)
    recorded = json.loads((edition.root / "docs" / "site" / "rankings.json").read_text(encoding="utf-8"))

    def split(rankings: dict[str, dict[str, str]]) -> dict[str, dict[str, list[str]]]:
        return {each: {name: ids.split() for name, ids in systems.items()} for each, systems in rankings.items()}

    return Pocket(
        passages={row["id"]: (row["title"], row["text"]) for row in rows("corpus")},
        queries={row["id"]: row["text"] for row in rows("queries")},
        grades=grades,
        lists=split(recorded[edition.language]["queries"]),
        later=recorded[edition.language]["later"],
        sentences=recorded[edition.language]["sentences"],
        suggested=split(recorded[edition.language]["suggested"]),
        means=recorded[edition.language]["ndcg@10"],
        stop=recorded["stop"],
    )
