"""FlagEmbedding's own way to run a model, from the same folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.models.files import one_line_errors
from helpers.models.precomputed import Precomputed

if TYPE_CHECKING:
    from FlagEmbedding import FlagModel

    from helpers.models.transformer import TransformerModel


def flag_model(model: TransformerModel | Precomputed) -> FlagModel:
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
