"""Rank for the lessons that run in the page: `python -m tests.site.recorded` writes docs/site/rankings.npz.

The systems of lessons 03 and 04 on their two collections, as deep as a lesson looks. A test ranks again.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from docs.site.recorded import FILE, MODELS, key
from helpers._io import whole_file
from helpers.data import load_dataset, upstream_example
from helpers.systems import Dense, Words, load_contenders, rank, rank_all

DEEP, SHALLOW = 100, 10  # ranks of the systems by which lesson 04 judges, and of those that lesson 03 alone has
STEMS = "BM25:stem=porter"
JUDGING = ("MiniLM, cls", "MiniLM, mean", "MiniLM, max", "static, mean", "TF-IDF", "BM25")


def recorded() -> dict[str, np.ndarray]:
    """Return what the file holds: scores (q, k) and ids (q, k) of every ranking, and the models as JSON."""
    contenders = load_contenders()
    arrays = {MODELS: np.array(json.dumps([asdict(model.info) for model, _ in contenders.values()], sort_keys=True))}
    for data in (upstream_example()[0], load_dataset("pocket-en")):
        depth = min(DEEP, len(data.corpus))
        rankings = rank_all(contenders, data, depth, progress=False)
        for name, ranking in (rankings | {STEMS: rank(STEMS, data, depth)}).items():
            model, _, pooling = name.partition(", ")
            system = Dense(contenders[model].model, pooling) if pooling else Words(name)
            scores, ids = ranking.rank(data, DEEP if name in JUDGING else SHALLOW)
            arrays |= {f"{key(data, system)}/scores": scores, f"{key(data, system)}/ids": ids.astype(np.int16)}
    return arrays


def main() -> None:
    """Write the file."""
    with whole_file(FILE) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **recorded())


if __name__ == "__main__":
    main()
