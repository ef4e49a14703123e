"""Rank for the pictures of lessons: `python -m tests.site.recorded` writes docs/site/rankings.npz.

The systems of lessons 03 and 04 on the pocket collection, in Chinese with the model of those lessons there, and on
the published example.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from docs.site import samples
from helpers._io import whole_file
from helpers.data import load_dataset, upstream_example
from helpers.models import MULTILINGUAL, OFFLINE_DEFAULT
from helpers.systems import load_contenders, rank, rank_all

FILE = Path(samples.__file__).with_name("rankings.npz")
DEEP, SHALLOW = 100, 10  # ranks of the systems by which lesson 04 judges, and of those that lesson 03 alone has
STEMS = "BM25:stem=porter"
JUDGING = ("MiniLM, cls", "MiniLM, mean", "MiniLM, max", "mE5, mean", "static, mean", "TF-IDF", "BM25")


def recorded() -> dict[str, np.ndarray]:
    """Return what the file holds: scores (q, k) and ids (q, k) of every ranking, by collection and system."""
    arrays = {}
    english, chinese = (load_contenders("offline", model) for model in (OFFLINE_DEFAULT, MULTILINGUAL))
    collections = ((english, upstream_example()[0]), (english, load_dataset("pocket-en")))
    for contenders, data in (*collections, (chinese, load_dataset("pocket-zh"))):
        depth = min(DEEP, len(data.corpus))
        rankings = rank_all(contenders, data, depth, progress=False) | {STEMS: rank(STEMS, data, depth)}
        for name, ranking in rankings.items():
            model, _, pooling = name.partition(", ")
            system = f"{contenders[model].model.info.name}/{pooling}" if pooling else name
            scores, ids = ranking.rank(data, DEEP if name in JUDGING else SHALLOW)
            place = f"{data.sha256}/{system}"
            arrays |= {f"{place}/scores": scores, f"{place}/ids": ids.astype(np.int16)}
    return arrays


def main() -> None:
    """Write the file."""
    with whole_file(FILE) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **recorded())


if __name__ == "__main__":
    main()
