"""Turn texts into vectors, once: what was computed is kept on disk under a name made from its content."""

import functools
import hashlib
import itertools
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers.files import whole_file
from helpers.precomputed import Precomputed
from helpers.progress import progress_bar

if TYPE_CHECKING:
    from FlagEmbedding import FlagModel

BATCH_SIZE = 32  # on a few CPU cores faster than the 256 that FlagEmbedding takes by default
SHARD_SIZE = 1024  # texts a file: what a killed run loses at most


def default_cache() -> Path:
    """Return the folder of the embedding cache: ``EVAL_CACHE_DIR``, else one in the user's own cache folder."""
    named = os.environ.get("EVAL_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(user) / "retrieval-evaluation-tutorial"


def encode(
    model: "FlagModel | Precomputed",
    texts: Sequence[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    progress: bool = True,
) -> np.ndarray:
    """Embed texts.

    Args:
        model: what :func:`helpers.models.load_model` returned; precomputed vectors are looked up by their text.
        texts: n strings.
        kind: ``"passage"`` or ``"query"``; each gets the model's instruction for its kind put before it.
        batch_size: texts a forward pass; changes the speed and, by rounding, the seventh digit of a value.
        cache_dir: where finished shards are kept; by default :func:`default_cache`.
        progress: draw a bar while computing.

    Returns:
        float32 array (n, dim), row i for text i, each of length one: an inner product of two is their cosine.

    Warns:
        when texts that it computes are longer than the model takes: what lies beyond is cut off.

    Raises:
        ValueError: no texts, a text that is not a string or is blank or has no precomputed vector, an unknown kind,
            vectors that are not finite.
        OSError: the cache folder cannot be written; the message names it.
    """
    texts = list(texts)
    if not texts:
        raise ValueError("No texts to encode: give at least one.")
    if isinstance(model, Precomputed):
        return next(encode_shards(model, texts, kind=kind, shard_size=len(texts)))
    shards = encode_shards(model, texts, kind=kind, batch_size=batch_size, cache_dir=cache_dir)
    embeddings, start = None, 0
    with progress_bar(len(texts), f"Encode {kind}", "text", show=progress) as bar:
        for shard in shards:
            if embeddings is None:
                embeddings = np.empty((len(texts), shard.shape[1]), np.float32)
            embeddings[start : start + len(shard)] = shard
            start += len(shard)
            bar.update(len(shard))
    return embeddings


def encode_shards(
    model: "FlagModel | Precomputed",
    texts: Iterable[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    shard_size: int = SHARD_SIZE,
) -> Iterator[np.ndarray]:
    """Embed a stream of texts of any length, giving memory-mapped shards as they are finished.

    A shard is a file named by a digest of the model and of its texts. A run that was killed finds the shards it
    finished and computes the rest; two runs at once may compute a shard twice, and write the same file. A shard
    that cannot be read, or whose rows are not of length one, is computed again.

    Yields:
        Read-only float32 arrays (at most ``shard_size``, dim), in the order of the texts.
    """
    if kind not in ("passage", "query"):
        raise ValueError(f"kind={kind!r}: expected 'passage' or 'query'.")
    if isinstance(model, Precomputed):
        compute = functools.partial(model.look_up, kind=kind)
    else:
        instruction = model.info.query_instruction if kind == "query" else model.info.passage_instruction
        compute = functools.partial(_shard, model, instruction, cache_folder(cache_dir), batch_size)
    numbered = iter(enumerate(texts))
    while batch := list(itertools.islice(numbered, shard_size)):
        yield compute([checked_text(row, text) for row, text in batch])


def _shard(model: "FlagModel", instruction: str, folder: Path, batch_size: int, texts: list[str]) -> np.ndarray:
    """Read a shard from the cache, or compute it and put it there."""
    info, texts = model.info, [instruction + text for text in texts]
    how = [info.sha256, info.pooling, info.max_length, str(model.target_devices[0]), str(model.model.dtype)]
    path = shard_path(folder, how, texts)
    if (found := read_shard(path, len(texts))) is None:
        write_shard(path, _forward(model, texts, batch_size))
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


def _forward(model: "FlagModel", texts: list[str], batch_size: int) -> np.ndarray:
    """Run the model over texts, the longest first so that little padding is computed; (n, dim), unit rows.

    The same steps as ``FlagModel.encode``, without the trial batch it runs first to find a batch size.
    """
    import torch

    device = model.target_devices[0]
    network = model.model.to(device).eval()
    if device == "cpu":
        network.float()
    tokens = model.tokenizer(texts, truncation=True, max_length=model.info.max_length)["input_ids"]
    warn_of_cut(model, texts, tokens, model.info.max_length)
    embeddings = None
    with torch.inference_mode():
        for rows, inputs in padded_batches(model.tokenizer, {"input_ids": tokens}, batch_size, device):
            hidden = network(**inputs, return_dict=True).last_hidden_state
            pooled = model.pooling(hidden, inputs["attention_mask"]).float()
            unit = torch.nn.functional.normalize(pooled, dim=-1).cpu().numpy()
            if embeddings is None:
                embeddings = np.empty((len(texts), unit.shape[1]), np.float32)
            embeddings[rows] = unit
    if not np.isfinite(embeddings).all():
        bad = int(np.flatnonzero(~np.isfinite(embeddings).all(axis=1))[0])
        raise ValueError(
            f"The model gave a vector with NaN or infinite values for {texts[bad][:60]!r}; try half=False."
        )
    return embeddings


def count_cut(model: "FlagModel | Precomputed", passages: Sequence[str]) -> int | None:
    """Count the passages longer than the model reads, which it sees the beginning of; None where nobody knows."""
    if isinstance(model, Precomputed):
        return None
    limit, count = model.info.max_length, 0
    room = limit - model.tokenizer.num_special_tokens_to_add() - 1
    texts = (model.info.passage_instruction + passage for passage in passages)
    # An ASCII character never makes more than one token, so that short texts need not be tokenized.
    doubtful = (text for text in texts if len(text) > room or not text.isascii())
    while batch := list(itertools.islice(doubtful, SHARD_SIZE)):
        count += sum(len(ids) > limit for ids in model.tokenizer(batch, verbose=False)["input_ids"])
    return count


def warn_of_cut(model, texts: Sequence[str], tokens: Sequence[Sequence[int]], limit: int) -> None:
    """Warn if any of the texts, of which these are the tokens, was longer than a limit; model has a tokenizer."""
    full = [text for text, ids in zip(texts, tokens, strict=True) if len(ids) == limit]
    if full and any(len(ids) > limit for ids in model.tokenizer(full, verbose=False)["input_ids"]):
        warnings.warn(
            f"Texts are longer than the {limit} tokens that {model.info.name} takes: what lies beyond was cut off. "
            "Split them into passages; helpers.embeddings.count_cut counts them.",
            stacklevel=2,
        )


def padded_batches(tokenizer, tokens: Mapping[str, list], batch_size: int, device: str) -> Iterator[tuple]:
    """Cut tokenized texts into batches, the longest first so that little padding is computed.

    Yields:
        The rows of a batch, an int array, and its padded tensors ("input_ids", "attention_mask" …) on the device.
    """
    order = np.argsort([-len(ids) for ids in tokens["input_ids"]], kind="stable")
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = {name: [column[row] for row in rows] for name, column in tokens.items()}
        yield rows, tokenizer.pad(batch, return_tensors="pt").to(device)


def shard_path(folder: Path, how: list, texts: list[str]) -> Path:
    """Name a shard by all that decides its values: how it was computed (model, pooling, device …), and the texts."""
    digest = hashlib.sha256(json.dumps([how, texts], ensure_ascii=False).encode()).hexdigest()
    return folder / f"{digest}.npy"


def write_shard(path: Path, embeddings: np.ndarray) -> None:
    """Write a shard so that nobody ever sees half of one."""
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.save(file, embeddings, allow_pickle=False)


def read_shard(path: Path, rows: int) -> np.ndarray | None:
    """Map a shard into memory; None if it is absent, cut short or damaged."""
    try:
        shard = np.load(path, mmap_mode="r", allow_pickle=False)
    except (FileNotFoundError, ValueError, EOFError):
        return None
    if shard.dtype != np.float32 or shard.ndim != 2 or len(shard) != rows:
        return None
    lengths = np.einsum("ij,ij->i", shard, shard)
    return shard if np.allclose(lengths, 1, atol=1e-3) else None


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Create the cache folder, :func:`default_cache` unless another is named, or say why it cannot be used."""
    folder = Path(cache_dir) if cache_dir is not None else default_cache()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise OSError(
            f"Cannot write to the cache folder {str(folder)!r} ({error.strerror}): "
            "pass another cache_dir, or set the environment variable EVAL_CACHE_DIR."
        ) from error


def checked_text(row: int, text: str) -> str:
    """Return a text, or raise if there is nothing to embed in it."""
    if not isinstance(text, str):
        raise ValueError(f"Text {row} is of type {type(text).__name__}, {text!r}; expected a string.")
    if not text.strip():
        raise ValueError(f"Text {row} is blank; drop it, a model would still give it a vector.")
    return text
