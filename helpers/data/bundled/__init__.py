"""Bundled collections, read without a network and without third-party libraries.

A collection is a folder beside this file: ``card.toml`` with its name, languages and relevance level;
``queries.<language>.jsonl``, ``corpus.<language>.jsonl`` and ``qrels.tsv``. The split ``typed`` has its own queries and
judgements, ``typed.queries.<language>.jsonl`` and ``typed.qrels.<language>.tsv``. To add a collection, add a folder.
"""

import json
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.data.by_id import Options, read_files
from helpers.data.dataset import RetrievalDataset

if TYPE_CHECKING:
    import numpy as np

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Card:
    """The entries of ``card.toml``."""

    folder: Path
    name: str
    languages: list[str]
    relevance_level: int
    splits: list[str] = field(default_factory=lambda: ["dev"])

    @property
    def fixed(self) -> dict[str, str]:
        """The names with one language for queries and corpus (``pocket-en``), and that language."""
        return {f"{self.name}-{language}": language for language in self.languages}


def cards() -> list[Card]:
    """Read the card of every bundled collection."""
    paths = sorted(FOLDER.glob("*/card.toml"))
    return [Card(folder=path.parent, **tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]


def names() -> list[str]:
    """Return the names that :func:`load` accepts: ``pocket-en``, ``pocket-zh``, and ``pocket`` for two languages."""
    return [name for card in cards() for name in (*card.fixed, card.name)]


def load(name: str, split: str = "dev", queries: str | None = None, corpus: str | None = None) -> RetrievalDataset:
    """Load a bundled collection.

    Args:
        name: one of :func:`names`.
        split: ``dev``, or ``typed``: queries as people type them, different ones in each language.
        queries, corpus: the languages of queries and corpus if the name does not contain one; ids are parallel, so
            any pair shares the judgements of ``dev``, and any corpus those of ``typed``.
    """
    card = next(card for card in cards() if name in (*card.fixed, card.name))
    if split not in card.splits:
        raise ValueError(f"The bundled collection {name!r} has no split {split!r}; it has {' and '.join(card.splits)}.")
    if name in card.fixed and (queries is not None or corpus is not None):
        raise ValueError(f'{name!r} fixes both languages; write "{card.name}" for others, with queries= and corpus=.')
    queries, corpus = card.fixed.get(name, queries), card.fixed.get(name, corpus)
    if not {queries, corpus} <= {*card.languages}:
        raise ValueError(
            f"{name!r} needs a language for each side, queries= and corpus=, of {', '.join(card.languages)}; "
            f"not {queries!r} and {corpus!r}."
        )
    full_name = f"{card.name}-{queries}" if queries == corpus else f"{card.name}-{queries}-{corpus}"
    prefix, side = ("", "") if split == "dev" else (f"{split}.", f".{queries}")
    files = (f"{prefix}queries.{queries}.jsonl", f"corpus.{corpus}.jsonl", f"{prefix}qrels{side}.tsv")
    texts, passages, judgements = (card.folder / file for file in files)
    data = read_files(full_name, texts, passages, judgements, Options())
    return replace(data, relevance_level=card.relevance_level, split=split)


def upstream_example() -> tuple[RetrievalDataset, dict[str, "np.ndarray"]]:
    """Return the experiment that the upstream tutorial published: five questions, ten sentences, five models.

    Returns:
        The collection, and for each model the published rows of the first two sentences per question, int64 (5, 2).
    """
    import numpy as np

    example = json.loads((FOLDER / "upstream_mrr_example.json").read_text(encoding="utf-8"))
    data = RetrievalDataset(
        name="upstream's example",
        queries=example["queries"],
        corpus=example["sentences"],
        qrels=[dict.fromkeys(rows, 1) for rows in example["relevant"]],
        query_ids=[str(row) for row in range(len(example["queries"]))],
        corpus_ids=[str(row) for row in range(len(example["sentences"]))],
    )
    return data, {name: np.array(top2) for name, top2 in example["published_top2"].items()}
