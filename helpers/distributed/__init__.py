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

from helpers._progress import progress_bar
from helpers.distributed.work import Encoding, Question, encode_shard, search_part
from helpers.embeddings import BATCH_SIZE, SHARD_SIZE, check_options, text_batches
from helpers.embeddings.shards import Manifest, ShardFile, Shards, fill
from helpers.embeddings.store import Store
from helpers.index.blocks import BLOCK
from helpers.index.dense import checked_vectors
from helpers.index.order import check_k, merge

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy import Cluster

    from helpers.models.transformer import TransformerModel

__all__ = ["encode", "search"]

# Vectors that a worker searches at a time: whole blocks, so that the products are those of one process.
PART = 4 * BLOCK


def encode(
    model: TransformerModel,
    texts: Iterable[str],
    folder: str | Path,
    *,
    cluster: str | Client | Cluster | None = None,
    workers: int | None = None,
    threads_per_worker: int = 1,
    gpus_per_worker: int = 0,
    dashboard: bool = False,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    shard_size: int = SHARD_SIZE,
    progress: bool = True,
) -> Shards:
    """Embed a stream of texts on the workers of a Dask cluster, into a folder.

    The folder is the one that ``encode_shards(model, texts, folder=folder)`` would fill, bit for bit if a worker has as
    many threads as that process, and either call goes on where the other stopped: shards that are there are not
    computed again. The texts are read as workers ask for them, a few shards ahead. A shard that failed, or whose
    worker died, is tried three more times.

    Args:
        model: from :func:`helpers.models.load_model`. Each worker loads it once, by its name or path, and
            checks its SHA-256. It computes on a CPU, or on a GPU with ``gpus_per_worker=1``, whatever this one does.
        texts: any iterable of strings.
        folder: where the vectors go; on a disk that all machines of the cluster have under the same path.
        cluster: ``None`` starts one on this machine, which listens on 127.0.0.1 alone, takes only whoever has its
            temporary certificate, and is closed in the end. An address, ``tcp://host:8786``, a ``distributed.Client``
            or a Dask cluster is used as it is. A script calls this under ``if __name__ == "__main__":``.
        workers: processes of a local cluster; by default as many as there are cores for their threads, or GPUs.
        threads_per_worker: with which a worker computes.
        gpus_per_worker: 0, or 1: each worker of a local cluster sees one GPU of this machine; each worker of another
            one takes the first that it sees, which ``dask-cuda`` makes a different one for each.
        dashboard: serve Dask's page about a local cluster, unencrypted, on port 8787 of this machine; needs ``bokeh``.
        kind, batch_size: as for :func:`helpers.embeddings.encode`.
        shard_size: texts a shard; a worker computes a shard at a time.
        progress: draw a bar.

    Returns:
        The vectors, float32 (n, dim), in the order of the texts.

    Warns:
        UserWarning: the workers' warnings, such as truncated texts, each once and at the end.

    Raises:
        ValueError: as for :func:`helpers.embeddings.encode_shards`; a model that was not loaded by name or path,
            ``workers`` for a cluster that is there already, more workers than GPUs.
        ConnectionError: no scheduler answers at the address (within 15 seconds), or it went away; the same call
            again goes on.
        RuntimeError: a shard failed four times, or its workers died; the message names it and the cause. The workers
            of a local cluster do not start.
    """
    check_options(kind, batch_size, shard_size)
    from helpers.distributed.cluster import connected  # Dask takes a second to import
    from helpers.distributed.tasks import in_order

    if model.origin is None:
        raise ValueError(
            f"{model.info.name} cannot be loaded by a worker: it was computed elsewhere, or made from another model. "
            "Give what load_model returned for a hub id or a folder of a model."
        )
    total = len(texts) if isinstance(texts, Sized) else None
    run = Encoding(
        origin=model.origin,
        device="cuda:0" if gpus_per_worker else "cpu",
        manifest=worker_manifest(
            Manifest.begin(model, kind, batch_size, shard_size, total), model.origin["half"], gpus_per_worker
        ),
        batch_size=batch_size,
        folder=Path(folder).expanduser().absolute(),
        threads=threads_per_worker,
    )
    tasks = ((run, batch) for batch in text_batches(texts, shard_size))
    messages: set[str] = set()
    with (
        connected(cluster, workers, threads_per_worker, gpus_per_worker, dashboard) as client,
        closing(in_order(client, encode_shard, tasks, "Shard")) as results,
        progress_bar(total, f"Encode {kind}", "text", show=progress) as bar,
    ):

        def files() -> Iterator[tuple[list[str], ShardFile, int]]:
            for (_, batch), done in results:
                yield batch, done.shard, done.dim
                bar.update(len(batch))
                messages.update(done.warnings)

        shards = fill(Store(run.folder), run.manifest, files())
    for message in sorted(messages):
        warnings.warn(message, stacklevel=2)
    return shards


def search(
    shards: Shards,
    queries: np.ndarray,
    k: int = 10,
    *,
    cluster: str | Client | Cluster | None = None,
    workers: int | None = None,
    threads_per_worker: int = 1,
    dashboard: bool = False,
    batch_size: int = 256,
    progress: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best passages of each query, exactly, each worker in its part of the vectors.

    A worker reads a part from the folder, compares all queries with all of its vectors, and returns its k best of
    each; the caller merges them.

    Args:
        shards: from :func:`encode`, or ``Shards.open(folder)``, on a disk that all machines share.
        queries: float array (q, dim); all are sent to every worker.
        k: how many passages a query, no more than there are.
        cluster, workers, threads_per_worker, dashboard: as for :func:`encode`.
        batch_size: queries a call of FAISS, as for :func:`helpers.index.search`.
        progress: draw a bar.

    Returns:
        scores: float32 (q, k), the best first.
        ids: int64 (q, k), row numbers; equal scores by ascending id. Both are those of one index in memory, as
            :class:`helpers.index.blocks.BlockIndex` says.

    Raises:
        ValueError: k out of range, queries of another dimension, values that are not finite.
        ConnectionError: as for :func:`encode`.
        RuntimeError: as for :func:`encode`.
    """
    from helpers.distributed.cluster import RETRIES, connected
    from helpers.distributed.tasks import in_order

    check_k(k, len(shards))
    queries = checked_vectors("queries", queries, shards.dim)
    parts = [(start, min(start + PART, len(shards))) for start in range(0, len(shards), PART)]
    best = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
    with (
        connected(cluster, workers, threads_per_worker, 0, dashboard) as client,
        progress_bar(len(shards), "Search", "passage", show=progress) as bar,
    ):
        # A task that returns its arguments: unlike scattered data, it is done again when its worker dies.
        question = client.submit(
            Question, shards, queries, k, batch_size, threads_per_worker, pure=False, retries=RETRIES
        )
        tasks = ((question, start, end) for start, end in parts)
        with closing(in_order(client, search_part, tasks, "Part")) as results:
            for (_, start, end), part in results:
                best = merge([best, part], k)
                bar.update(end - start)
    return best


def worker_manifest(manifest: Manifest, half: bool, gpus: int) -> Manifest:
    """Return the manifest of vectors that are computed on the workers' kind of device."""
    dtype = "torch.float16" if gpus and half else "torch.float32"
    return replace(manifest, recipe=replace(manifest.recipe, device="cuda" if gpus else "cpu", dtype=dtype))
