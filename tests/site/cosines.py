"""Count the cosines of lesson 05 for its picture: `python -m tests.site.cosines` writes docs/site/cosines.json.

For Chinese queries and the passages of each language: how many relevant pairs, and how many others, have a cosine from
one multiple of the step to the next.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from helpers._io import whole_file
from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.models import MULTILINGUAL, load_model

TARGET = Path(__file__).parents[2] / "docs" / "site" / "cosines.json"
STEPS = 200  # of 1: a step is 0.005
LEAST, MOST = 132, 196  # the first and the last multiple


def counts() -> dict[str, object]:
    """Return what the file holds."""
    model, zh, en = load_model(MULTILINGUAL), load_dataset("pocket-zh"), load_dataset("pocket-en")
    queries = encode(model, zh.queries, kind="query")
    relevant = np.zeros((len(zh.queries), len(zh.corpus)), bool)
    for row in range(len(zh.queries)):
        relevant[row, zh.relevant(row)] = True
    edges = np.arange(LEAST, MOST + 1) / STEPS
    ways = {}
    for way, data in {"zh→zh": zh, "zh→en": en}.items():
        cosines = queries @ encode(model, data.corpus).T
        if not edges[0] <= cosines.min() <= cosines.max() < edges[-1]:
            raise ValueError(f"{way}: cosines from {cosines.min()} to {cosines.max()}; widen LEAST and MOST.")
        kinds = {"relevant": cosines[relevant], "others": cosines[~relevant]}
        ways[way] = {kind: np.histogram(values, edges)[0].tolist() for kind, values in kinds.items()}
    return {"steps": STEPS, "least": LEAST, "ways": ways}


def main() -> None:
    """Write the file."""
    with whole_file(TARGET) as temporary:
        temporary.write_text(json.dumps(counts(), ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
