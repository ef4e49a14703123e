"""Networks loaded by transformers: token vectors, any pooling, and two variants for comparison.

``SentenceTransformer`` is not used: it fills missing weights with random numbers, takes the mean if a folder states no
pooling, drops ColBERT's projection, and takes seconds to import. Only its ``Dense`` and ``Normalize`` layers are used.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers._optional import from_extra

with from_extra("report"):
    import torch
    import transformers
from safetensors.torch import load_file
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from helpers.models.card import ModelInfo, Pooling, read_json
from helpers.models.find import PICKLE, WEIGHTS, Checkpoint, one_line_errors, read_pickle
from helpers.models.pooling import TokenBatch

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PROJECTION = "linear.weight"  # the layer that ColBERT adds to BERT
ACTIVATIONS = ("Tanh", "Identity", "ReLU", "GELU", "SiLU", "Sigmoid")  # of torch.nn, allowed after a dense layer


@dataclass(frozen=True)
class TransformerModel:
    """A network with its tokenizer, as :func:`helpers.models.load_model` returns it.

    ``projection`` (dim out, dim in) is ColBERT's of the token vectors, ``layers`` are those of sentence-transformers
    after the pooling, ``folder`` the files, None for a variant.
    """

    info: ModelInfo
    tokenizer: PreTrainedTokenizerBase = field(repr=False)
    network: torch.nn.Module = field(repr=False)
    device: str = "cpu"
    projection: Tensor | None = field(default=None, repr=False)
    layers: tuple[torch.nn.Module, ...] = field(default=(), repr=False)
    folder: Path | None = field(default=None, repr=False)

    @property
    def parameter_count(self) -> int:
        """The number of weights."""
        modules = (self.network, *self.layers)
        return sum(weights.numel() for module in modules for weights in module.parameters())

    @property
    def dtype(self) -> str:
        """The PyTorch type of the weights."""
        return str(self.network.dtype)

    def token_vectors(self, padded: Mapping[str, Tensor], *, attention: bool = False) -> TokenBatch:
        """Run the network on one padded batch; ``attention`` adds the attention of the last layer."""
        accepted = inspect.signature(self.network.forward).parameters
        inputs = {name: tensor for name, tensor in padded.items() if name in accepted}
        output = self.network(**inputs, return_dict=True, **({"output_attentions": True} if attention else {}))
        mask = padded["attention_mask"]
        return TokenBatch(
            hidden=output.last_hidden_state,
            mask=mask,
            is_cls=(padded["input_ids"] == self.tokenizer.cls_token_id) & (mask == 1),
            attention=output.attentions[-1] if attention and output.attentions else None,
        )


def load_transformer(
    checkpoint: Checkpoint, info: ModelInfo, *, longest: int | None, device: str | None, half: bool, eager: bool
) -> TransformerModel:
    """Load a model; a ``max_length`` of None becomes the default, at most ``longest`` unless its files say.

    ``eager`` is the implementation that can return attention weights; a ``device`` of None is a GPU if there is one.
    """
    device = device or ("cuda:0" if torch.cuda.is_available() else "cpu")
    card = checkpoint.card
    with quiet():
        tokenizer = _load_tokenizer(checkpoint)
        lowered = card.lower_case and _lower_case(tokenizer)
        network, unused = _load_network(checkpoint, eager)
    _require_encoder(network, checkpoint, info.pooling)
    if (getattr(network.config, "max_position_embeddings", None) or 0) > 0:  # XLNet says -1
        tokenizer.padding_side = "right"  # absolute positions would count padding on the left
    network = network.half() if half and device != "cpu" else network.float()
    most, special = longest_input(tokenizer, network), tokenizer.num_special_tokens_to_add()
    if info.max_length is not None and not special < info.max_length <= most:
        raise ValueError(f"max_length={info.max_length}: {info.name} takes from {special + 1} to {most} tokens.")
    limits = [info.max_length or min(most, length or card.max_length or longest or most)
              for length in (card.passage_length, card.query_length)]  # fmt: skip
    layers = _load_layers(checkpoint) if any(kind == "Dense" for kind, _ in card.layers) else []
    widths = [getattr(network.config, "hidden_size", 0), *(getattr(layer, "out_features", 0) for layer in layers)]
    width = int(next(filter(None, reversed(widths)), 0))
    if info.dim is not None and not 0 < info.dim <= width:
        raise ValueError(f"dim={info.dim}: {info.name} has vectors of {width} dimensions.")
    projection = None
    for path in (checkpoint.folder / file for file in checkpoint.weights if PROJECTION in unused):
        weights = load_file(path) if path.suffix == ".safetensors" else read_pickle(path)
        projection = weights[PROJECTION].float().to(device) if PROJECTION in weights else projection
    return TransformerModel(
        info=replace(
            info,
            max_length=limits[0],
            query_length=limits[1] if limits[1] != limits[0] else None,
            lower_case=lowered or None,
        ),
        tokenizer=tokenizer,
        network=network.to(device),
        device=device,
        projection=projection,
        layers=tuple(layer.float().eval().to(device) for layer in layers),
        folder=checkpoint.folder,
    )


def longest_input(tokenizer: PreTrainedTokenizerBase, network: PreTrainedModel) -> int:
    """Return the maximum input length in tokens: the tokenizer's limit, or the number of positions if that is less.

    Some tokenizers state no limit. RoBERTa-like models do not use the positions up to the padding index. A model with
    relative positions (XLNet) has only the tokenizer's limit.
    """
    positions = getattr(network.config, "max_position_embeddings", None)
    if positions is None or positions < 1:
        return int(tokenizer.model_max_length)
    embeddings = getattr(getattr(network, "embeddings", None), "position_embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    return min(int(tokenizer.model_max_length), int(positions) - (0 if padding is None else int(padding) + 1))


def static(model: TransformerModel) -> TransformerModel:
    """Return a model of the network's input embeddings alone: a token has the same vector in every context."""
    return _variant(model, "static", _Lookup(model.network))  # type: ignore[arg-type]


def untrained(model: TransformerModel, seed: int = 0) -> TransformerModel:
    """Return a model of the same architecture and tokenizer with random, untrained weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModel.from_config(model.network.config, attn_implementation="eager")
    return _variant(model, "untrained", network.eval().to(model.device))


class _Lookup(torch.nn.Module):
    def __init__(self, network: PreTrainedModel) -> None:
        super().__init__()
        self.config = network.config
        self.dtype = network.dtype
        self.embeddings = network.get_input_embeddings()

    def forward(self, input_ids: Tensor, **_: object) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=self.embeddings(input_ids))


def _variant(model: TransformerModel, kind: str, network: torch.nn.Module) -> TransformerModel:
    """Return a model with the same tokenizer, another network, and a digest of that network."""
    digest = hashlib.sha256(f"{model.info.sha256} {kind}".encode())
    for name, tensor in network.state_dict().items():
        digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    sha256 = digest.hexdigest()
    info = replace(model.info, name=f"{model.info.name} ({kind})", sha256=sha256, weights_sha256=sha256)
    return TransformerModel(info, model.tokenizer, network, model.device)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the progress bar and the warnings of transformers in a ``with`` block, while it loads weights."""
    logging = transformers.utils.logging
    has_bar, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bar:
            logging.enable_progress_bar()


def _load_tokenizer(checkpoint: Checkpoint) -> PreTrainedTokenizerBase:
    """Load a tokenizer; if it has no pad token, token 0 is used for padding, which is masked."""
    with one_line_errors(f"{checkpoint.name}: its tokenizer cannot be loaded; save it beside the model"):
        tokenizer: PreTrainedTokenizerBase = transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, trust_remote_code=False, local_files_only=True
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(0)
    wants_end = checkpoint.card.tokenizer.get("add_eos_token") is True
    if wants_end and tokenizer("a")["input_ids"][-1] != tokenizer.eos_token_id:
        # The model's own code, which is not run, would append the end token to each text.
        from tokenizers import processors

        end, backend = tokenizer.eos_token, tokenizer.backend_tokenizer
        append_end = processors.TemplateProcessing(single=f"$A {end}", special_tokens=[(end, tokenizer.eos_token_id)])
        existing = [backend.post_processor] if backend.post_processor else []
        backend.post_processor = processors.Sequence([*existing, append_end])
    return tokenizer


def _lower_case(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Make a tokenizer lowercase texts first; return whether it did not do so by itself."""
    from tokenizers import normalizers

    backend = tokenizer.backend_tokenizer
    if backend.normalizer is not None and backend.normalizer.normalize_str("A").islower():
        return False
    others = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *others])
    return True


def _load_network(checkpoint: Checkpoint, eager: bool) -> tuple[PreTrainedModel, set[str]]:
    attention = {"attn_implementation": "eager"} if eager else {}
    is_t5 = checkpoint.card.config.get("architectures") == ["T5EncoderModel"]
    kind: Any = transformers.T5EncoderModel if is_t5 else transformers.AutoModel  # which takes it for the whole T5
    with one_line_errors(f"{checkpoint.name} cannot be loaded as a transformers model"):
        network, report = kind.from_pretrained(
            checkpoint.folder, output_loading_info=True, trust_remote_code=False, local_files_only=True, **attention
        )
    if missing := sorted(key for key in report["missing_keys"] if "pooler" not in key):  # the pooler is not used
        raise ValueError(
            f"{checkpoint.name} lacks {len(missing)} weights of its architecture, the first {missing[0]}; they would "
            "be random. Load the checkpoint they belong to."
        )
    return network.eval(), set(report["unexpected_keys"])


def require_head(checkpoint: Checkpoint) -> None:
    """Raise ValueError unless a folder holds a reranker: a network that gives one score a pair, with all its weights.

    The weights are not read.
    """
    with quiet(), one_line_errors(f"{checkpoint.name} cannot be loaded as a reranker by transformers"):
        network, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            checkpoint.folder, output_loading_info=True, trust_remote_code=False, local_files_only=True,
            device_map="meta",
        )  # fmt: skip
    if missing := sorted(report["missing_keys"]):
        raise ValueError(
            f"{checkpoint.name} is no reranker: it has no weights {missing[0]!r} to score a pair with, which would be "
            "random. Give a reranker, such as BAAI/bge-reranker-base; an embedding model is a system of its own."
        )
    if (labels := int(network.config.num_labels)) != 1:
        raise ValueError(f"{checkpoint.name} gives {labels} scores a pair; a reranker gives one.")


def _require_encoder(network: PreTrainedModel, checkpoint: Checkpoint, pooling: str | None) -> None:
    """Raise unless the pooled tokens attend to the whole text: any token of an encoder, the last token of a decoder."""
    card = checkpoint.card
    problem = f"{checkpoint.name} ({network.config.model_type}) is not a text encoder such as BERT: "
    if getattr(network.config, "is_encoder_decoder", False):
        raise ValueError(problem + "it has an encoder and a decoder. Take a model that has an encoder alone.")
    inputs = torch.tensor([[1, 2, 3], [1, 2, 4]])  # they differ in the last token only
    try:
        with torch.inference_mode():
            first, second = network(input_ids=inputs, attention_mask=torch.ones_like(inputs)).last_hidden_state
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(problem + f"given tokens alone it fails ({error}).") from error
    if not torch.allclose(first[0], second[0], atol=1e-6):
        return
    if not card.config.get("is_causal", "AutoModel" not in (card.config.get("auto_map") or {})):
        raise ValueError(
            f"{checkpoint.name}: its config.json (is_causal), or code of its own, which is never run, may let tokens "
            f"see both ways, and in transformers {transformers.__version__} no token sees those behind it. Upgrade "
            'transformers, or write "is_causal": false into its config.json if its code lets tokens see both ways '
            "(gte-Qwen2 does), else true."
        )
    if pooling != Pooling.LAST_TOKEN and not (pooling == Pooling.MEAN and card.poolings == ["mean"]):
        raise ValueError(
            problem + "its first token does not see the last one, as in a generator such as GPT. An embedding model "
            "of that kind is pooled by its last token: pooling='lasttoken'."
        )


def _load_layers(checkpoint: Checkpoint) -> list[torch.nn.Module]:
    """Load the Dense and Normalize layers after the pooling."""
    try:
        from sentence_transformers.sentence_transformer.modules import Dense, Normalize
    except ModuleNotFoundError:  # before sentence-transformers 6
        from sentence_transformers.models import Dense, Normalize  # type: ignore[import-not-found, no-redef]
    layers: list[torch.nn.Module] = []
    for kind, path in checkpoint.card.layers:
        if kind == "Normalize":
            layers.append(Normalize())
        if kind != "Dense":
            continue
        where, folder = f"{checkpoint.name}/{path}", checkpoint.folder / path
        if Path(path).name != path:
            raise ValueError(f"{checkpoint.name}: {path!r} of its modules.json is no folder of the model itself.")
        if not (folder / WEIGHTS).exists():
            if not (folder / PICKLE).exists():
                raise ValueError(f"{where} holds no weights, {WEIGHTS} or {PICKLE}; download the model again.")
            read_pickle(folder / PICKLE)
        config = read_json(folder / "config.json")
        package, _, activation = str(config.get("activation_function", "torch.nn.Tanh")).rpartition(".")
        if package.split(".")[0] != "torch" or activation not in ACTIVATIONS:
            raise ValueError(
                f"{where}: no activation {config['activation_function']!r} here; it has {', '.join(ACTIVATIONS)}."
            )
        for key in ("module_input_name", "module_output_name"):
            if config.get(key) not in (None, "sentence_embedding"):
                raise ValueError(f"{where}: {key} is {config[key]!r}; here a layer works on the text's one vector.")
        with one_line_errors(f"{where}: its weights do not fit its config.json"):
            layers.append(Dense.load(str(folder)))
    return layers
