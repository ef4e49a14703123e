"""Encode and search on a Dask cluster: the calls of one machine, on as many workers as there are.

Workers write shards into a folder that all of them share and return names, never vectors; the results are those of one
process. Needs the extra ``[distributed]``.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import secrets
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from helpers._optional import progress_bar
from helpers.embeddings import BATCH_SIZE, SHARD_SIZE, check_options, encoding, text_batches
from helpers.embeddings.shards import MANIFEST, Manifest, ShardFile, Shards, fill
from helpers.embeddings.store import Store
from helpers.index.dense import BLOCK, BlockIndex, checked_vectors
from helpers.index.order import check_k, merge
from helpers.models import load_model

if TYPE_CHECKING:
    from distributed import Client, Future

    from helpers.models.transformer import TransformerModel

__all__ = ["encode", "search"]

# Vectors that a worker searches at a time: whole blocks, so that the products are those of one process.
PART = 4 * BLOCK
RETRIES = 3  # of a shard, after an error and after the death of its worker
AHEAD = 3  # tasks in flight for each thread of the cluster: one computes, the others are on their way
Run: TypeAlias = "tuple[dict[str, Any], Manifest, int, Path, int]"  # origin, settings, batch size, folder, threads
T = TypeVar("T")
Arguments = TypeVar("Arguments", bound=tuple[object, ...])
_ONE_AT_A_TIME = threading.Lock()  # tasks of a worker with several threads; tokenizers cannot be shared by threads
_model = functools.lru_cache(maxsize=1)(load_model)


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
        contextlib.closing(in_order(client, encode_shard, tasks, "Shard")) as results,
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
    check_k(k, len(shards))
    queries = checked_vectors("queries", queries, shards.dim)
    parts = [(start, min(start + PART, len(shards))) for start in range(0, len(shards), PART)]
    best = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
    # A task that returns its arguments: unlike scattered data, it is done again when its worker dies.
    question = client.submit(tuple, (shards, queries, k, threads_per_worker), pure=False, retries=RETRIES)
    with (
        contextlib.closing(in_order(client, search_part, ((question, *part) for part in parts), "Part")) as results,
        progress_bar(len(shards), "Search", "passage", show=progress) as bar,
    ):
        for (_, start, end), found in results:
            best = merge([best, found], k)
            bar.update(end - start)
    return best


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


def in_order(
    client: Client, call: Callable[..., T], tasks: Iterable[Arguments], name: str
) -> Generator[tuple[Arguments, T], None, None]:
    """Run ``call(*task)`` on workers for a stream of tasks, a few ahead; give each with its result, in order."""
    run, numbered = secrets.token_hex(4), enumerate(tasks)
    waiting: deque[tuple[int, Arguments, Future]] = deque()
    try:
        while True:
            with _scheduler_reached():
                room = AHEAD * max(1, sum(client.nthreads().values())) - len(waiting)
            for number, task in itertools.islice(numbered, max(0, room)):
                with _scheduler_reached():
                    key = f"{name}-{run}-{number}"
                    waiting.append((number, task, client.submit(call, *task, key=key, retries=RETRIES)))
            if not waiting:
                return
            number, task, future = waiting[0]
            with _scheduler_reached():
                error = future.exception()
                if isinstance(error, CancelledError):
                    raise error
                result: T | None = future.result() if error is None else None
            if error is not None:
                cause = f"failed, {RETRIES + 1} times ({type(error).__name__}: {str(error)!r:.500})"
                raise RuntimeError(f"{name} {number}: {cause}.") from error
            waiting.popleft()
            yield task, result  # type: ignore[misc]
    finally:
        if waiting:  # Dask tells every client of a cancellation, and a client that is just connecting would stop at it
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel([future for _, _, future in waiting])


@contextlib.contextmanager
def _scheduler_reached() -> Iterator[None]:
    from distributed.client import ClosedClientError  # Dask takes a second to import

    try:
        yield
    except (OSError, CancelledError, ClosedClientError) as error:
        raise ConnectionError(
            f"The Dask scheduler is gone ({str(error)!r:.200}). What was finished is kept: the same call again goes on."
        ) from error
