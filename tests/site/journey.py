"""Record the vectors of lesson 01's first query for its picture: `python -m tests.site.journey` writes journey.json.

Of the query and the first passages of its ranking: the vector in 8 bits, and of each passage the inner product.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import numpy as np

from docs.site.dense import quantize
from helpers._io import whole_file
from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.models import OFFLINE_DEFAULT, load_model

TARGET = Path(__file__).parents[2] / "docs" / "site" / "journey.json"
PASSAGES = 5


def vectors() -> np.ndarray:
    """Return the vectors of the query and of the passages ranked first for it, as lesson 01 computes them."""
    model, data = load_model(OFFLINE_DEFAULT), load_dataset("pocket-en")
    query, passages = encode(model, data.queries[:1], kind="query"), encode(model, data.corpus)
    return np.vstack([query, passages[(passages @ query[0]).argsort()[::-1][:PASSAGES]]])


def main() -> None:
    """Write the file."""
    exact = vectors()
    coded = [b64encode(row.tobytes()).decode() for row in quantize(exact)[0]]
    record = {"products": [round(float(product), 4) for product in exact[1:] @ exact[0]], "vectors": coded}
    with whole_file(TARGET) as temporary:
        temporary.write_text(json.dumps(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
