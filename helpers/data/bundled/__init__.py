"""The bundled collection, read without a network and without third-party libraries.

It is the folder ``pocket`` beside this file: ``queries.<language>.jsonl``, ``corpus.<language>.jsonl`` and
``qrels.tsv``, with the same ids in each language. The split ``typed`` has its own queries and judgements,
``typed.queries.<language>.jsonl`` and ``typed.qrels.<language>.tsv``.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.data.build import Reading, build, read_files
from helpers.data.dataset import RetrievalDataset

if TYPE_CHECKING:
    import numpy as np

FOLDER = Path(__file__).parent
LANGUAGES = {  # of queries and corpus, by the name that :func:`load` accepts
    "pocket-en": ("en", "en"),
    "pocket-zh": ("zh", "zh"),
    "pocket-en-zh": ("en", "zh"),
    "pocket-zh-en": ("zh", "en"),
}
SPLITS = ("dev", "typed")
RELEVANCE_LEVEL = 2


def load(name: str, split: str = "dev") -> RetrievalDataset:
    """Load the bundled collection by one of the names in ``LANGUAGES``.

    Ids are parallel, so any two languages share the judgements of the split ``dev``. ``typed`` is queries as people
    type them, different ones in each language, with judgements of their own.
    """
    if split not in SPLITS:
        raise ValueError(f"The bundled collection {name!r} has no split {split!r}; it has {' and '.join(SPLITS)}.")
    queries, corpus = LANGUAGES[name]
    prefix, side = ("", "") if split == "dev" else (f"{split}.", f".{queries}")
    files = (f"{prefix}queries.{queries}.jsonl", f"corpus.{corpus}.jsonl", f"{prefix}qrels{side}.tsv")
    texts, passages, judgements = (FOLDER / "pocket" / file for file in files)
    data = build(name, read_files(texts, passages, judgements, reading := Reading(), split), reading)
    return replace(data, relevance_level=RELEVANCE_LEVEL)


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
