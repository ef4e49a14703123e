"""Learned sparse retrieval (SPLADE): a network weights every token of its vocabulary for a text."""

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
    """A masked language model as sparse encoder; texts are compared by the inner product of their weights.

    The weight of a vocabulary entry is the largest log(1 + max(0, logit)) over the tokens of the text (Formal et al.
    2021, SPLADE v2, equation 6), for passages and queries alike. Weights are not cached: each ranking computes them.

    Attributes:
        name, sha256: name and digest of the checkpoint.
        tokenizer, network: as loaded by transformers.
        max_length: texts are truncated to this many tokens.
        batch_size: texts per forward pass.
    """

    name: str
    sha256: str
    tokenizer: "PreTrainedTokenizerBase" = field(repr=False)
    network: "PreTrainedModel" = field(repr=False)
    max_length: int
    batch_size: int = 32

    index_kind = "Sparse"

    def represent(self, texts: list[str], kind: str) -> "csr_matrix":
        """Return the weights of the vocabulary for each text, (n, vocabulary), float32; most are 0."""
        import torch
        from scipy.sparse import csr_matrix, vstack

        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))  # similar lengths: little padding
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
        return vstack(blocks)[np.argsort(order)]


def load_sparse(
    name_or_path: str | Path, *, max_length: int | None = None, device: str | None = None, batch_size: int = 32
) -> Sparse:
    """Load a sparse encoder: a folder or hub id of a masked language model, such as ``naver/splade-v3``.

    Args:
        name_or_path: the folder or hub id; its files are checked as in :func:`helpers.models.load_model`, and weights
            are read from safetensors only.
        max_length: truncate texts to this many tokens; by default the tokenizer's limit, at most 512.
        device: device of the network; None for a GPU if there is one.
        batch_size: texts per forward pass.

    Raises:
        ValueError: the files are not safe to load, the network has no masked language model head, or ``max_length``
            is out of range.
        FileNotFoundError: as for ``load_model``.
        ConnectionError: as for ``load_model``.
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
