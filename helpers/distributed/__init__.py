"""Encode and search on a Dask cluster: the calls of one machine, on as many workers as there are.

Workers write shards into a folder that all of them share and return names, never vectors; the results are those of one
process. Needs the extra ``[distributed]``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sized
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers._optional import progress_bar
from helpers.distributed.work import encode_shard, origin_of, search_part
from helpers.embeddings import BATCH_SIZE, SHARD_SIZE, check_options, text_batches
from helpers.embeddings.shards import Manifest, ShardFile, Shards, fill
from helpers.embeddings.store import Store
from helpers.index.dense import BLOCK, checked_vectors
from helpers.index.order import check_k, merge

if TYPE_CHECKING:
    from distributed import Client

    from helpers.models.transformer import TransformerModel

__all__ = ["encode", "search"]

# Vectors that a worker searches at a time: whole blocks, so that the products are those of one process.
PART = 4 * BLOCK


def encode(
    model: TransformerModel,
    texts: Iterable[str],
    folder: str | Path,
    *,
    client: Client,
    threads_per_worker: int = 1,
    device: str = "cpu",
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    shard_size: int = SHARD_SIZE,
    progress: bool = True,
) -> Shards:
    """Embed a stream of texts on the workers of a Dask cluster, into a folder: float32 (n, dim), in order.

    The folder is the one that ``encode_shards(model, texts, folder=folder)`` would fill, bit for bit if a worker has as
    many threads as that process, and either call goes on where the other stopped. A shard that failed, or whose worker
    died, is tried three more times.

    Args:
        model: from :func:`helpers.models.load_model`; each worker loads it once, by its name or folder.
        texts, kind, batch_size, shard_size, progress: as for :func:`helpers.embeddings.encode_shards`; texts are read
            a few shards ahead of the workers, a shard each.
        folder: on a disk that all machines of the cluster have under the same path.
        client: a ``distributed.Client``, connected to the cluster; both are left running.
        threads_per_worker: threads with which a worker computes.
        device: of each worker: ``"cpu"``, or ``"cuda:0"``, the first GPU that it sees (one each under ``dask-cuda``).

    Raises:
        ValueError: as for :func:`helpers.embeddings.encode_shards`; a model that was not loaded by name or folder.
        ConnectionError: the scheduler went away; the same call again goes on.
        RuntimeError: a shard failed four times, or its workers died; the message names it and the cause.
    """
    check_options(kind, batch_size, shard_size)
    from helpers.distributed.cluster import in_order  # Dask takes a second to import

    total = len(texts) if isinstance(texts, Sized) else None
    origin = origin_of(model)
    manifest = Manifest.begin(model, kind, batch_size, shard_size)
    dtype = "torch.float16" if origin["half"] and device != "cpu" else "torch.float32"
    manifest = replace(manifest, recipe=replace(manifest.recipe, device=device.partition(":")[0], dtype=dtype))
    place = Path(folder).expanduser().absolute()
    run = (origin | {"device": device}, manifest, batch_size, place, threads_per_worker)
    tasks = ((run, batch) for batch in text_batches(texts, shard_size))
    messages: set[str] = set()
    with (
        closing(in_order(client, encode_shard, tasks, "Shard")) as results,
        progress_bar(total, f"Encode {kind}", "text", show=progress) as bar,
    ):

        def files() -> Iterator[tuple[list[str], ShardFile, int]]:
            for (_, batch), (shard, dim, said) in results:
                yield batch, shard, dim
                bar.update(len(batch))
                messages.update(said)

        shards = fill(Store(place), manifest, files())
    for message in sorted(messages):
        warnings.warn(message, stacklevel=2)
    return shards


def search(
    shards: Shards,
    queries: np.ndarray,
    k: int = 10,
    *,
    client: Client,
    threads_per_worker: int = 1,
    progress: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best passages of each query, (q, dim), exactly, each worker in its part of the vectors.

    The shards are those of :func:`encode`, or ``Shards.open(folder)``, on a disk that all machines share; the other
    arguments and the errors are those of :func:`encode`. Scores, float32 (q, k), the best first, and row numbers, int64
    (q, k), are those of one index in memory.
    """
    from helpers.distributed.cluster import RETRIES, in_order

    check_k(k, len(shards))
    queries = checked_vectors("queries", queries, shards.dim)
    parts = [(start, min(start + PART, len(shards))) for start in range(0, len(shards), PART)]
    best = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
    # A task that returns its arguments: unlike scattered data, it is done again when its worker dies.
    question = client.submit(tuple, (shards, queries, k, threads_per_worker), pure=False, retries=RETRIES)
    with (
        closing(in_order(client, search_part, ((question, *part) for part in parts), "Part")) as results,
        progress_bar(len(shards), "Search", "passage", show=progress) as bar,
    ):
        for (_, start, end), found in results:
            best = merge([best, found], k)
            bar.update(end - start)
    return best
