"""The work of a worker: encode a shard, or search some."""

from __future__ import annotations

import functools
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from helpers.embeddings import Shards, encoding
from helpers.embeddings.shards import MANIFEST, Manifest, ShardFile
from helpers.embeddings.store import Store
from helpers.index.blocks import BlockIndex
from helpers.models import load_model

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

_ONE_AT_A_TIME = threading.Lock()  # tasks of a worker with several threads; tokenizers cannot be shared by threads


@dataclass(frozen=True)
class Encoding:
    """The settings of a run that encodes, the same for all of its shards.

    Attributes:
        origin: with which arguments a worker loads the model.
        device: on which it computes, ``cpu`` or ``cuda:0``.
        manifest: with the settings that the vectors must have, digest of the model included.
        batch_size: texts a forward pass.
        folder: where shards are written; the same disk for all.
        threads: with how many a worker computes.
    """

    origin: dict[str, Any]
    device: str
    manifest: Manifest
    batch_size: int
    folder: Path
    threads: int


class Encoded(NamedTuple):
    """The answer of a worker that wrote a shard: the file, its dimensions, and warnings to pass on."""

    shard: ShardFile
    dim: int
    warnings: tuple[str, ...]


def encode_shard(run: Encoding, texts: list[str]) -> Encoded:
    """Encode the texts of one shard into the folder, unless it is there already."""
    store, expected = Store(run.folder), run.manifest
    if store.read_text(MANIFEST) is None:
        raise FileNotFoundError(
            f"{str(run.folder)!r} is not there on a worker, or is another folder than the caller's: choose one on a "
            "disk that all machines share."
        )
    import torch

    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        torch.set_num_threads(run.threads)
        model = _model(run.device, **run.origin)
        manifest = Manifest.begin(model, expected.kind, run.batch_size, expected.shard_size)
        if differences := expected.differences(manifest):
            raise ValueError(
                f"A worker computes otherwise than the caller expects: {'; '.join(differences)}. Give all machines the "
                "same files."
            )
        vectors = encoding.encode_shard(model, texts, expected.kind, run.batch_size, store)
        messages = tuple(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return Encoded(expected.shard_file(store, texts, vectors), vectors.shape[1], messages)


@functools.lru_cache(maxsize=1)
def _model(device: str, **origin: Any) -> TransformerModel:
    """Load a model, and keep it for the next shard."""
    model: TransformerModel = load_model(**origin, device=device)  # type: ignore[assignment]
    return model


@dataclass(frozen=True)
class Question:
    """The settings of a search, the same for all parts: vectors, queries (q, dim), how many results each."""

    shards: Shards
    queries: np.ndarray
    k: int
    batch_size: int
    threads: int


def search_part(question: Question, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Search the vectors from ``start`` to ``end``: the best k of each query, scores and row numbers of the whole."""
    import faiss

    shards, k = question.shards, min(question.k, end - start)
    with _ONE_AT_A_TIME:
        faiss.omp_set_num_threads(question.threads)
        part = BlockIndex(shards[start:end], corpus_size=len(shards))
        scores, ids = part.search(question.queries, k, question.batch_size)
        return scores, ids + start
