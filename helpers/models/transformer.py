"""Networks read by transformers' ``AutoModel``: token vectors under any pooling, and two variants for comparison."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import safetensors
import torch
import transformers
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from helpers.models.files import Checkpoint, one_line_errors, read_json, read_pickle
from helpers.models.model import ModelInfo, Origin, Pooling
from helpers.models.pooling import POOLINGS, TokenBatch

PROJECTION = "linear.weight"  # the layer that ColBERT puts behind BERT


@dataclass(frozen=True)
class TransformerModel:
    """A network with its tokenizer; :func:`helpers.models.load_model` makes one.

    Attributes:
        info: name, digests, and how texts are read.
        tokenizer, network: what transformers loaded.
        device: the one device it computes on.
        projection: (dim out, dim in) of a ColBERT checkpoint, which puts it behind the network; else None.
        layers: those that sentence-transformers puts behind the pooling.
        origin: how to load it once more; None of a variant, which exists in this process alone.
    """

    info: ModelInfo
    tokenizer: Any = field(repr=False)
    network: torch.nn.Module = field(repr=False)
    device: str = "cpu"
    projection: Tensor | None = field(default=None, repr=False)
    layers: tuple[torch.nn.Module, ...] = field(default=(), repr=False)
    origin: Origin | None = field(default=None, repr=False)

    @property
    def parameter_count(self) -> int:
        """How many weights the network has."""
        modules = (self.network, *self.layers)
        return sum(weights.numel() for module in modules for weights in module.parameters())

    @property
    def dtype(self) -> str:
        """The type of the numbers it computes with."""
        return str(self.network.dtype)

    def token_vectors(self, padded: Mapping[str, Tensor], *, attention: bool = False) -> TokenBatch:
        """Run the network over one padded batch of tokens; ``attention`` asks for that of the last layer too."""
        accepted = inspect.signature(self.network.forward).parameters
        inputs = {name: tensor for name, tensor in padded.items() if name in accepted}
        if attention:
            inputs["output_attentions"] = True  # type: ignore[assignment]
        output = self.network(**inputs, return_dict=True)
        mask = padded["attention_mask"]
        return TokenBatch(
            hidden=output.last_hidden_state,
            mask=mask,
            is_cls=(padded["input_ids"] == self.tokenizer.cls_token_id) & (mask == 1),
            attention=output.attentions[-1] if attention and output.attentions else None,
        )

    def vectors(self, batch: TokenBatch, pooling: Pooling) -> Tensor:
        """Pool the token vectors of a batch, (b, dim)."""
        return self.finished(POOLINGS[pooling](batch))

    def finished(self, pooled: Tensor) -> Tensor:
        """Pass a text's vector through the further layers, and leave of it the dimensions asked for."""
        for layer in self.layers:
            pooled = layer(pooled.float())
        return pooled[:, : self.info.dim]

    @property
    def full_dim(self) -> int:
        """How many dimensions a text's vector has before any are left out."""
        network: Any = self.network
        sizes = [getattr(layer, "out_features", None) for layer in self.layers]
        return int(next((size for size in reversed(sizes) if size), network.config.hidden_size))

    def projected(self, hidden: Tensor) -> Tensor:
        """Pass token vectors through ColBERT's projection, where there is one."""
        return hidden if self.projection is None else hidden @ self.projection.T


def load_network(
    checkpoint: Checkpoint, pooling: Pooling | None, device: str, half: bool
) -> tuple[Any, torch.nn.Module, Tensor | None]:
    """Load tokenizer, network and, of a ColBERT checkpoint, the projection behind it.

    Raises:
        ValueError: no usable tokenizer, weights missing from the checkpoint, or a model that is no text encoder.
    """
    tokenizer = _load_tokenizer(checkpoint)
    network, unused = _load_weights(checkpoint)
    _require_encoder(network, checkpoint, pooling)
    if (getattr(network.config, "max_position_embeddings", None) or 0) > 0:  # XLNet says -1
        tokenizer.padding_side = "right"  # positions are counted from the first place, be it padding or not
    network = network.half() if half and device != "cpu" else network.float()
    projection = _read_weight(checkpoint, PROJECTION).to(device) if PROJECTION in unused else None
    return tokenizer, network.eval().to(device), projection


def static(model: TransformerModel) -> TransformerModel:
    """Make a model of a network's input embeddings alone: a token has one vector, whatever stands around it."""
    return _variant(model, "static", _Lookup(model.network))


def untrained(model: TransformerModel, seed: int = 0) -> TransformerModel:
    """Make a twin of the same architecture, with the same tokenizer, and weights as they are before any training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModel.from_config(model.network.config, attn_implementation="eager")
    return _variant(model, "untrained", network.eval().to(model.device))


class _Lookup(torch.nn.Module):
    """Gives each token its input embedding, in the form in which a network gives its last layer."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.config = network.config
        self.dtype = network.dtype
        self.embeddings = network.get_input_embeddings()

    def forward(self, input_ids: Tensor, **_: object) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=self.embeddings(input_ids))


def _variant(model: TransformerModel, kind: str, network: torch.nn.Module) -> TransformerModel:
    """Put another network behind a model's tokenizer, under a digest of its own."""
    digest = hashlib.sha256(f"{model.info.sha256} {kind}".encode())
    for name, tensor in network.state_dict().items():
        digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    sha256 = digest.hexdigest()
    info = replace(model.info, name=f"{model.info.name} ({kind})", sha256=sha256, weights_sha256=sha256)
    return TransformerModel(info, model.tokenizer, network, model.device)


def _load_tokenizer(checkpoint: Checkpoint) -> Any:
    """Load a tokenizer that can pad: one without a pad token gets another token in its place, which is masked."""
    with one_line_errors(f"{checkpoint.name}: its tokenizer cannot be loaded; save it beside the model"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint.folder, trust_remote_code=False)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(0)
    if read_json(checkpoint.folder / "tokenizer_config.json").get("add_eos_token") is True:
        _put_end_token(tokenizer)
    return tokenizer


def _put_end_token(tokenizer: Any) -> None:
    """Make a tokenizer end each text with its end token, where code of a model's own, not run here, would do so."""
    if tokenizer("a")["input_ids"][-1] == tokenizer.eos_token_id:
        return
    from tokenizers import processors

    end, backend = tokenizer.eos_token, tokenizer.backend_tokenizer
    ends = processors.TemplateProcessing(single=f"$A {end}", special_tokens=[(end, tokenizer.eos_token_id)])
    earlier = [backend.post_processor] if backend.post_processor else []
    backend.post_processor = processors.Sequence([*earlier, ends])


def _load_weights(checkpoint: Checkpoint) -> tuple[Any, set[str]]:
    """Load a network, and the names of weights it did not use; raise where it would be left with random ones."""
    with one_line_errors(f"{checkpoint.name} cannot be loaded as a transformers model"):
        network, report = transformers.AutoModel.from_pretrained(
            checkpoint.folder, attn_implementation="eager", output_loading_info=True, trust_remote_code=False
        )
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)  # the pooler is not used here
    if missing:
        raise ValueError(
            f"{checkpoint.name} lacks {len(missing)} weights of its architecture, the first {missing[0]}; they would "
            "be random. Load the checkpoint they belong to."
        )
    return network, set(report["unexpected_keys"])


def _require_encoder(network: Any, checkpoint: Checkpoint, pooling: Pooling | None) -> None:
    """Raise unless the tokens that are pooled have seen the whole text: all of an encoder, the last of a decoder."""
    wrong = f"{checkpoint.name} ({network.config.model_type}) is not a text encoder such as BERT: "
    if getattr(network.config, "is_encoder_decoder", False):
        raise ValueError(wrong + "it has an encoder and a decoder. Take a model that has an encoder alone.")
    two_ends = torch.tensor([[1, 2, 3], [1, 2, 4]])
    try:
        with torch.inference_mode():
            first, second = network.eval()(
                input_ids=two_ends, attention_mask=torch.ones_like(two_ends)
            ).last_hidden_state
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(wrong + f"given tokens alone it fails ({error}).") from error
    if torch.allclose(first[0], second[0], atol=1e-6):
        _require_decoder(checkpoint, pooling, wrong)


def _require_decoder(checkpoint: Checkpoint, pooling: Pooling | None, wrong: str) -> None:
    """Raise unless a network whose tokens see nothing behind them was meant so, and is pooled by its last token."""
    config = read_json(checkpoint.folder / "config.json")
    if config.get("is_causal") is False:
        raise ValueError(
            f"{checkpoint.name}: its config.json says that tokens see both ways (is_causal), which transformers "
            f"{transformers.__version__} does not do for it. Upgrade transformers."
        )
    if "AutoModel" in config.get("auto_map", {}) and "is_causal" not in config:
        raise ValueError(
            f"{checkpoint.name} brings code of its own, which is never run, and without it no token sees what stands "
            'behind it. Write "is_causal": false into its config.json if its code lets tokens see both ways '
            "(gte-Qwen2 does), else true."
        )
    if pooling is not Pooling.LAST_TOKEN:
        raise ValueError(
            wrong + "its first token does not see the last one, as in a generator such as GPT. An embedding model of "
            "that kind is pooled by its last token: pooling='lasttoken'."
        )


def _read_weight(checkpoint: Checkpoint, name: str) -> Tensor:
    """Read one weight out of a checkpoint's files."""
    for file in checkpoint.weights:
        path: Path = checkpoint.folder / file
        if path.suffix == ".safetensors":
            with safetensors.safe_open(path, "pt") as weights:
                if name in set(weights.keys()):
                    tensor: Tensor = weights.get_tensor(name)
                    return tensor.float()
        elif name in (pickled := read_pickle(path)):
            weight: Tensor = pickled[name]
            return weight.float()
    raise ValueError(f"{checkpoint.name}: no file holds the weight {name}.")
