"""Bundled collections, read without a network and without third-party libraries.

A collection is a folder beside this file: ``card.toml`` with its name, languages and relevance level;
``queries.<language>.jsonl``, ``corpus.<language>.jsonl`` and ``qrels.tsv``. The split ``typed`` has its own queries and
judgements, ``typed.queries.<language>.jsonl`` and ``typed.qrels.<language>.tsv``. To add a collection, add a folder.
"""

import itertools
import json
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.data.build import Reading, build, read_files
from helpers.data.dataset import RetrievalDataset

if TYPE_CHECKING:
    import numpy as np

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Collection:
    """The entries of ``card.toml``."""

    folder: Path
    name: str
    languages: list[str]
    relevance_level: int
    splits: list[str] = field(default_factory=lambda: ["dev"])

    @property
    def pairs(self) -> dict[str, tuple[str, str]]:
        """The languages of queries and corpus by name: ``pocket-en``, and across languages ``pocket-zh-en``."""
        one = {f"{self.name}-{language}": (language, language) for language in self.languages}
        pairs = itertools.permutations(self.languages, 2)
        return one | {f"{self.name}-{queries}-{corpus}": (queries, corpus) for queries, corpus in pairs}


def cards() -> list[Collection]:
    """Read the card of every bundled collection."""
    paths = sorted(FOLDER.glob("*/card.toml"))
    return [Collection(folder=path.parent, **tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]


def names() -> list[str]:
    """Return the names that :func:`load` accepts: ``pocket-en``, ``pocket-zh``, ``pocket-en-zh``, ``pocket-zh-en``."""
    return [name for card in cards() for name in card.pairs]


def load(name: str, split: str = "dev") -> RetrievalDataset:
    """Load a bundled collection by one of :func:`names`.

    Ids are parallel, so any two languages share the judgements of the split ``dev``. ``typed`` is queries as people
    type them, different ones in each language, with judgements of their own.
    """
    card = next(card for card in cards() if name in card.pairs)
    if split not in card.splits:
        raise ValueError(f"The bundled collection {name!r} has no split {split!r}; it has {' and '.join(card.splits)}.")
    queries, corpus = card.pairs[name]
    prefix, side = ("", "") if split == "dev" else (f"{split}.", f".{queries}")
    files = (f"{prefix}queries.{queries}.jsonl", f"corpus.{corpus}.jsonl", f"{prefix}qrels{side}.tsv")
    texts, passages, judgements = (card.folder / file for file in files)
    data = build(name, read_files(texts, passages, judgements, reading := Reading(), split), reading)
    return replace(data, relevance_level=card.relevance_level)


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
