"""Collections that ship with the package, read without a network and without any third-party library.

A collection is a folder beside this file: ``card.toml`` says what it is called, which languages it has and from
which grade a passage is relevant; ``queries.<language>.jsonl``, ``corpus.<language>.jsonl`` and ``qrels.tsv`` hold it.
The split ``typed`` has queries and judgements of its own, ``typed.queries.<language>.jsonl`` and
``typed.qrels.<language>.tsv``. Another collection is another folder, and no code.
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

FOLDER = Path(__file__).parent  # the tests put others here


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
        """The names that fix the language of both sides (``pocket-en``), and that language."""
        return {f"{self.name}-{language}": language for language in self.languages}


def cards() -> list[Card]:
    """Read the card of every bundled collection."""
    paths = sorted(FOLDER.glob("*/card.toml"))
    return [Card(folder=path.parent, **tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]


def names() -> list[str]:
    """List what :func:`load` takes: ``pocket-en`` and ``pocket-zh``, and ``pocket`` for a language a side."""
    return [name for card in cards() for name in (*card.fixed, card.name)]


def load(name: str, split: str = "dev", queries: str | None = None, corpus: str | None = None) -> RetrievalDataset:
    """Load a bundled collection.

    Args:
        name: one of :func:`names`.
        split: ``dev``, or ``typed``: other queries, as people type them, which are not the same in each language.
        queries, corpus: the language of each side where the name does not fix it; ids are parallel, so any pair
            shares the judgements of ``dev``, and any corpus those of ``typed``.

    Raises:
        ValueError: another split, languages that the collection lacks or that do not go with the name.
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
    names_of_files = (f"{prefix}queries.{queries}.jsonl", f"corpus.{corpus}.jsonl", f"{prefix}qrels{side}.tsv")
    texts, passages, judgements = (card.folder / file for file in names_of_files)
    data = read_files(full_name, texts, passages, judgements, Options())
    return replace(data, relevance_level=card.relevance_level, split=split)


def upstream_example() -> tuple[RetrievalDataset, dict[str, "np.ndarray"]]:
    """Read the experiment that the upstream tutorial published: five questions, ten sentences, five models.

    Returns:
        The collection, and for each model the sentences it ranked first and second, int64 (5, 2), as published.
        These rankings are quoted, not computed here.
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
