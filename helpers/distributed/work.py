"""The work of a worker: encode a shard, or search some."""

from __future__ import annotations

import functools
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from helpers.embeddings import Shards, encoding
from helpers.embeddings.shards import MANIFEST, Manifest, ShardFile
from helpers.embeddings.store import Store
from helpers.index.dense import BlockIndex
from helpers.models import load_model

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

_ONE_AT_A_TIME = threading.Lock()  # tasks of a worker with several threads; tokenizers cannot be shared by threads


Run: TypeAlias = "tuple[dict[str, Any], Manifest, int, Path, int]"  # origin, settings, batch size, folder, threads


def origin_of(model: TransformerModel) -> dict[str, Any]:
    """Return the arguments with which another process loads the same model; by its name where the hub has it."""
    info, folder = model.info, model.folder
    if folder is None:
        raise ValueError(
            f"{info.name} cannot be loaded by a worker: it was computed elsewhere, or made from another model. "
            "Give what load_model returned for a hub id or a folder of a model."
        )
    return {
        "name_or_path": info.name if "/" in info.name else str(folder),
        "backend": "transformers" if getattr(model.network.config, "_attn_implementation", "") == "eager" else None,
        "max_length": info.max_length if info.query_length is None else None,
        "half": model.dtype == "torch.float16",
        **{n: getattr(info, n) for n in ("pooling", "query_instruction", "passage_instruction", "dim")},
    }


def encode_shard(run: Run, texts: list[str]) -> tuple[ShardFile, int, list[str]]:
    """Encode the texts of one shard into the folder, unless it is there; return its file, dimensions and warnings."""
    origin, expected, batch_size, folder, threads = run
    store = Store(folder)
    if store.read_text(MANIFEST) is None:
        raise FileNotFoundError(
            f"{str(folder)!r} is not there on a worker, or is another folder than the caller's: choose one on a "
            "disk that all machines share."
        )
    import torch

    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        torch.set_num_threads(threads)
        model = _model(**origin)
        manifest = Manifest.begin(model, expected.kind, batch_size, expected.shard_size)
        if differences := expected.differences(manifest):
            raise ValueError(
                f"A worker computes otherwise than the caller expects: {'; '.join(differences)}. Give all machines the "
                "same files."
            )
        vectors = encoding.encode_shard(model, texts, expected.kind, batch_size, store)
        messages = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return expected.shard_file(store, texts, vectors), vectors.shape[1], messages


@functools.lru_cache(maxsize=1)
def _model(**origin: Any) -> TransformerModel:
    model: TransformerModel = load_model(**origin)  # type: ignore[assignment]
    return model


def search_part(question: tuple[Shards, np.ndarray, int, int], start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Search the vectors from ``start`` to ``end``: the best k of each query, scores and row numbers of the whole.

    All parts share the question: shards, queries (q, dim), how many results each, with how many threads.
    """
    import faiss

    shards, queries, k, threads = question
    with _ONE_AT_A_TIME:
        faiss.omp_set_num_threads(threads)
        scores, ids = BlockIndex(shards[start:end], corpus_size=len(shards)).search(queries, min(k, end - start))
        return scores, ids + start
