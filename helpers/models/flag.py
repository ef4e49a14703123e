"""FlagEmbedding's ``FlagModel`` as a model of ours: its network, its tokenizer, its own pooling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from helpers.models.files import Checkpoint, one_line_errors
from helpers.models.model import Pooling
from helpers.models.pooling import TokenBatch
from helpers.models.transformer import TransformerModel


@dataclass(frozen=True)
class FlagAdapter(TransformerModel):
    """A model whose pooling is FlagEmbedding's; ``flag`` is the ``FlagModel`` itself."""

    flag: Any = field(default=None, repr=False)

    def vectors(self, batch: TokenBatch, pooling: Pooling) -> Tensor:
        """Pool as FlagModel does under its own pooling, and by our formulas under any other."""
        if pooling != self.flag.pooling_method:
            return super().vectors(batch, pooling)
        pooled: Tensor = self.flag.pooling(batch.hidden, batch.mask)
        return self.finished(pooled)


def load_flag(
    checkpoint: Checkpoint, pooling: str, instructions: tuple[str, str], device: str | None, half: bool
) -> tuple[Any, str]:
    """Load a ``FlagModel``, ready to compute on its device, and the name of that device.

    Raises:
        ValueError: FlagEmbedding cannot load it.
    """
    from FlagEmbedding import FlagModel

    with one_line_errors(f"{checkpoint.name} cannot be loaded by FlagEmbedding"):
        flag = FlagModel(
            str(checkpoint.folder),
            pooling_method=pooling,
            query_instruction_for_retrieval=instructions[0] or None,
            passage_instruction_for_retrieval=instructions[1] or None,
            devices=device,
            use_fp16=half,
            trust_remote_code=False,
        )
    chosen = str(flag.target_devices[0])
    flag.model.to(chosen).eval()
    if chosen == "cpu":
        flag.model.float()
    return flag, chosen
