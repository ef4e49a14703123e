"""Precomputed embeddings, NumPy files with their texts, that take the place of a model."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from helpers._io import other_form, require_inside, sha256_of
from helpers.data.formats import READERS, read_table, texts_of
from helpers.models.card import ModelInfo

ARRAYS = {"passage": "passages", "query": "queries"}  # kind of text: file name without suffix
BLOCK = 8_192  # rows checked at a time, so that an array may be larger than memory


class Precomputed:
    """Two arrays of vectors and their texts; :func:`helpers.embeddings.encode` accepts it as a model.

    The folder holds ``passages.npy`` and ``queries.npy``, float arrays (n, dim), and for each a table of the same
    name (``.jsonl``, ``.csv``, ``.tsv`` or ``.parquet``) whose row i has the text of vector i in the column ``text``,
    as BEIR's ``corpus.jsonl`` and ``queries.jsonl`` do. A vector is looked up by its text, never by its row, so a data
    set may be in another order, a part of it, or have duplicate passages merged. Of equal texts the first counts.
    Vectors are scaled to length one if necessary, and ``info.pooling`` says so. Arrays of Python objects are never
    unpickled; ValueError names what is missing or does not fit.
    """

    device = "precomputed"
    parameter_count = folder = None  # attributes of a network

    def __init__(self, folder: str | Path) -> None:
        """Read and check the four files."""
        folder = Path(folder)
        self.arrays: dict[str, np.ndarray] = {}
        self.row_of_text: dict[str, dict[str, int]] = {}
        self.scaled, digests = False, dict[str, str]()
        for kind, stem in ARRAYS.items():
            array = folder / f"{stem}.npy"
            tables = [table for suffix in READERS if (table := array.with_suffix(suffix)).is_file()]
            if len(tables) != 1 or not array.is_file():
                raise ValueError(
                    f"{folder.name}: no {array.name}, or not one table with its texts. Embeddings of passages and of "
                    f'queries are both needed, and beside each its texts, say {stem}.jsonl with a line {{"text": "…"}} '
                    "for each row. A vector is found by its text."
                )
            for file in (array, *tables):
                require_inside(folder, file)
                digests[file.name] = sha256_of(file)
            vectors, (texts, _) = _read_array(array), texts_of(read_table(tables[0]), kind, {})
            if len(texts) != len(vectors):
                raise ValueError(
                    f"{folder.name}: {array.name} has {len(vectors)} rows, {tables[0].name} {len(texts)} texts; row i "
                    "of one must belong to row i of the other."
                )
            self.scaled |= _check_rows(array.name, vectors)
            self.arrays[kind] = vectors
            self.row_of_text[kind] = {  # of equal texts the first row
                text: row for row, text in reversed(list(enumerate(texts))) if isinstance(text, str)
            }
        passages, queries = (self.arrays[kind].shape[1] for kind in ARRAYS)
        if passages != queries:
            raise ValueError(
                f"{folder.name}: the passages have {passages} dimensions, the queries {queries}; both must come from "
                "one model."
            )
        weights = "".join(digests[f"{stem}.npy"] for stem in ARRAYS.values())
        self.info = ModelInfo(
            name=folder.name,
            sha256=hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest(),
            weights_sha256=hashlib.sha256(weights.encode()).hexdigest(),
            pooling=f"precomputed, {queries} dimensions{', scaled to length one' if self.scaled else ''}",
            files=digests,
        )

    @property
    def dtype(self) -> str:
        """The NumPy type of the passage vectors in the file."""
        return str(self.arrays["passage"].dtype)

    def look_up(self, texts: Sequence[str], kind: str) -> np.ndarray:
        """Return the vectors of texts: float32 (n, dim), each of length one; ValueError names those without one."""
        row_of_text = self.row_of_text[kind]
        if missing := [text for text in texts if text not in row_of_text]:
            raise ValueError(
                f"{self.info.name}: no vector for {len(missing)} of {len(texts)} texts ({ARRAYS[kind]}.npy has "
                f"{len(row_of_text)}). The first: {', '.join(repr(text[:60]) for text in missing[:3])}. "
                f"It has some for texts such as {next(iter(reversed(row_of_text)))[:60]!r}."
                f"{other_form(missing[0], row_of_text)}"
            )
        vectors = self.arrays[kind][[row_of_text[text] for text in texts]].astype(np.float64)
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit.astype(np.float32)


def _read_array(path: Path) -> np.ndarray:
    """Memory-map an array of floats; refuse pickled objects, since unpickling can run code."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"{path.name}: not a plain array of numbers ({error}). Write it with np.save(file, array, "
            "allow_pickle=False); arrays of Python objects are never read."
        ) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind != "f" or not array.size:
        kind = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else "an archive of arrays"
        raise ValueError(f"{path.name}: expected an array of floats of shape (texts, dimensions), found {kind}.")
    return array


def _check_rows(name: str, array: np.ndarray) -> bool:
    """Raise for a vector that is zero or not finite; return whether any length differs from one by more than 1e-5."""
    scaled = False
    for start in range(0, len(array), BLOCK):
        lengths = np.linalg.norm(array[start : start + BLOCK].astype(np.float64), axis=1)
        bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
        if len(bad):
            value = "only zeros" if lengths[bad[0]] == 0 else "NaN or infinite values"
            raise ValueError(f"{name}: row {start + bad[0]} has {value}; no text has such an embedding.")
        scaled |= bool((np.abs(lengths - 1) > 1e-5).any())
    return scaled
