"""The work of a worker: encode a shard, or search some."""

from __future__ import annotations

import functools
import threading
import warnings
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


class Encoding(NamedTuple):
    """What all shards of a run share."""

    origin: dict[str, Any]  # the arguments with which a worker loads the model
    manifest: Manifest  # with the settings that the vectors must have, digest of the model included
    batch_size: int
    folder: Path  # where shards are written; the same disk for all
    threads: int  # with how many a worker computes


class Question(NamedTuple):
    """What all parts of a search share: vectors, queries (q, dim), how many results each."""

    shards: Shards
    queries: np.ndarray
    k: int
    threads: int


def origin_of(model: TransformerModel) -> dict[str, Any]:
    """Return the arguments with which another process loads the same model; by its name where the hub has it."""
    info, folder = model.info, model.folder
    if folder is None:
        raise ValueError(
            f"{info.name} cannot be loaded by a worker: it was computed elsewhere, or made from another model. "
            "Give what load_model returned for a hub id or a folder of a model."
        )
    names = ("pooling", "query_instruction", "passage_instruction", "dim")
    return {
        "name_or_path": info.name if "/" in info.name else str(folder),
        "backend": "transformers" if getattr(model.network.config, "_attn_implementation", "") == "eager" else None,
        "max_length": info.max_length if info.query_length is None else None,
        "half": model.dtype == "torch.float16",
        **{name: getattr(info, name) for name in names},
    }


def encode_shard(run: Encoding, texts: list[str]) -> tuple[ShardFile, int, list[str]]:
    """Encode the texts of one shard into the folder, unless it is there; return its file, dimensions and warnings."""
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
        model = _model(**run.origin)
        manifest = Manifest.begin(model, expected.kind, run.batch_size, expected.shard_size)
        if differences := expected.differences(manifest):
            raise ValueError(
                f"A worker computes otherwise than the caller expects: {'; '.join(differences)}. Give all machines the "
                "same files."
            )
        vectors = encoding.encode_shard(model, texts, expected.kind, run.batch_size, store)
        messages = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return expected.shard_file(store, texts, vectors), vectors.shape[1], messages


@functools.lru_cache(maxsize=1)
def _model(**origin: Any) -> TransformerModel:
    """Load a model, and keep it for the next shard."""
    model: TransformerModel = load_model(**origin)  # type: ignore[assignment]
    return model


def search_part(question: Question, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Search the vectors from ``start`` to ``end``: the best k of each query, scores and row numbers of the whole."""
    import faiss

    shards, k = question.shards, min(question.k, end - start)
    with _ONE_AT_A_TIME:
        faiss.omp_set_num_threads(question.threads)
        part = BlockIndex(shards[start:end], corpus_size=len(shards))
        scores, ids = part.search(question.queries, k)
        return scores, ids + start
