"""Learned sparse retrieval: a network that gives every word of its vocabulary a weight for a text (SPLADE)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers.models.files import one_line_errors
from helpers.models.find import find_checkpoint
from helpers.systems.pipeline import Retrieval

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True)
class Sparse(Retrieval):
    """A network with the head of a masked language model; texts are compared by the inner product of their weights.

    The weight of a word is the largest log(1 + max(0, logit)) over the tokens of the text (Formal et al. 2021,
    SPLADE v2, equation 6), of passages and queries alike. Weights are not cached: each ranking computes them anew.

    Attributes:
        name, sha256: of the checkpoint.
        tokenizer, network: as transformers loaded them.
        max_length: tokens that are read; the rest is truncated.
        batch_size: texts a forward pass.
    """

    name: str
    sha256: str
    tokenizer: "PreTrainedTokenizerBase" = field(repr=False)
    network: "PreTrainedModel" = field(repr=False)
    max_length: int
    batch_size: int = 32

    @property
    def index_kind(self) -> str:
        """The index of sparse vectors."""
        return "Sparse"

    def represent(self, texts: list[str], kind: str) -> "csr_matrix":
        """Return the weights of the vocabulary for each text, (n, vocabulary), float32."""
        return self.weights(texts)

    def weights(self, texts: Sequence[str]) -> "csr_matrix":
        """Return the weights of the vocabulary for each text, (n, vocabulary), float32; few are above 0."""
        import torch
        from scipy.sparse import csr_matrix, vstack

        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))  # of like length: little padding
        blocks = []
        for first in range(0, len(order), self.batch_size):
            batch = [texts[row] for row in order[first : first + self.batch_size]]
            tokens = self.tokenizer(
                batch, padding=True, truncation=True, max_length=self.max_length, return_tensors="pt"
            ).to(self.network.device)
            with torch.inference_mode():
                logits = self.network(**tokens).logits.float()
                saturated = torch.log1p(torch.relu(logits)) * tokens["attention_mask"][:, :, None]
                blocks.append(csr_matrix(saturated.amax(dim=1).cpu().numpy()))
        return vstack(blocks, format="csr")[np.argsort(order)]


def load_sparse(
    name_or_path: str | Path, *, max_length: int | None = None, device: str | None = None, batch_size: int = 32
) -> Sparse:
    """Load a sparse encoder: a folder or hub id of a masked language model, such as ``naver/splade-v3``.

    Args:
        name_or_path: its files are checked like those of :func:`helpers.models.load_model`; weights are read from
            safetensors alone.
        max_length: tokens that are read; by default what the tokenizer says, no more than 512.
        device: None for a GPU where there is one.
        batch_size: texts a forward pass.

    Raises:
        ValueError: files that are not safe to load, a network without the head of a masked language model, a
            ``max_length`` that it does not take.
        FileNotFoundError, ConnectionError: as for ``load_model``.
    """
    import torch
    import transformers

    from helpers.models.transformer import longest_input, quiet

    checkpoint = find_checkpoint(name_or_path)
    with one_line_errors(f"{checkpoint.name} cannot be loaded as a sparse encoder"), quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, trust_remote_code=False, local_files_only=True
        )
        network, report = transformers.AutoModelForMaskedLM.from_pretrained(
            checkpoint.folder,
            trust_remote_code=False,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
        )
    if missing := sorted(report["missing_keys"]):
        raise ValueError(
            f"{checkpoint.name} has no weights for {missing[0]!r}: it is no masked language model, so its head would "
            "be random. Load it as a model, not as a sparse encoder."
        )
    most = min(longest_input(tokenizer, network.base_model), 512)
    if max_length is not None and not 2 < max_length <= most:
        raise ValueError(f"max_length={max_length}: {checkpoint.name} takes from 3 to {most} tokens.")
    device = device or ("cuda:0" if torch.cuda.is_available() else "cpu")
    network = network.float().eval().to(device)
    return Sparse(checkpoint.name, checkpoint.sha256, tokenizer, network, max_length or most, batch_size)
