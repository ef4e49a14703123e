"""Tiny checkpoints with random weights, saved to disk as real ones are, one for each architecture we meet."""

import copy
import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["a", "b", "c", "apple", "bread", "cat", "dog", "eat", "fish", "good", "house", "is", "not", "of", "the"]
WORDS += [",", ".", "[unused0]", "[unused1]"]  # the last two are ColBERT's markers
SPECIAL = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
VOCABULARY = len(SPECIAL) + len(WORDS)
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
         "intermediate_size": 32, "max_position_embeddings": 64}  # fmt: skip
FROM_PADDING = SIZES | {"max_position_embeddings": 66, "pad_token_id": 0}
QWEN = SIZES | {"num_key_value_heads": 1, "head_dim": 8}
CONFIGS = {
    "bert": transformers.BertConfig(**SIZES),
    "roberta": transformers.RobertaConfig(**FROM_PADDING),
    "mpnet": transformers.MPNetConfig(**FROM_PADDING),
    "xlnet": transformers.XLNetConfig(vocab_size=VOCABULARY, d_model=16, n_layer=2, n_head=2, d_inner=32),
    "gpt2": transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=2, n_head=2, n_positions=64),
    "qwen2": transformers.Qwen2Config(**QWEN),
    "qwen2 both ways": transformers.Qwen2Config(**QWEN, is_causal=False),
    "qwen3": transformers.Qwen3Config(**QWEN),
    "t5": transformers.T5Config(
        vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
    ),
}


def save_checkpoint(
    folder: Path, architecture: str = "bert", *, pooling: str | None = "mean", seed: int = 0, **tokenizer
) -> Path:
    """Make a checkpoint and save model, tokenizer and, unless None, the sentence-transformers pooling file.

    XLNet's tokenizer pads on the left and puts [CLS] last, as the published one does; further arguments go to
    :func:`save_tokenizer`.
    """
    torch.manual_seed(seed)
    config = copy.deepcopy(CONFIGS[architecture.removesuffix(" encoder")])
    is_half = architecture == "t5 encoder"
    model = transformers.T5EncoderModel(config) if is_half else transformers.AutoModel.from_config(config)
    model.save_pretrained(folder)
    if architecture == "xlnet":
        tokenizer = {"padding_side": "left", "cls_last": True, **tokenizer}
    save_tokenizer(folder, **tokenizer)
    if pooling is not None:
        (folder / "1_Pooling").mkdir()
        key = {"cls": "pooling_mode_cls_token", "lasttoken": "pooling_mode_lasttoken"}.get(pooling)
        key = key or f"pooling_mode_{pooling}_tokens"
        config = {"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": False, key: True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    return folder


def change(path: Path, **entries: object) -> None:
    """Set entries of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def add_layers(folder: Path, layers: list[tuple[str, dict]], seed: int = 0) -> None:
    """Write ``modules.json`` and behind the pooling the layers, each its kind and its configuration."""
    torch.manual_seed(seed)
    width = json.loads((folder / "1_Pooling" / "config.json").read_text())["word_embedding_dimension"]
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    for row, (kind, config) in enumerate(layers, 2):
        kinds[f"{row}_{kind}"] = kind
        (folder / f"{row}_{kind}").mkdir()
        if kind == "Dense":
            out, bias = config["out_features"], config.get("bias", True)
            (folder / f"{row}_{kind}" / "config.json").write_text(
                json.dumps({"in_features": width, "bias": bias, **config})
            )
            weights = {"linear.weight": torch.randn(out, width), **({"linear.bias": torch.randn(out)} if bias else {})}
            if config.get("use_residual") and out != width:
                weights["residual.weight"] = torch.randn(out, width)
            save_file(weights, folder / f"{row}_{kind}" / "model.safetensors", {"format": "pt"})
            width = out
    modules = [
        {"idx": row, "name": str(row), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for row, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))


def save_colbert(folder: Path, *, dim: int = 4, seed: int = 0) -> Path:
    """Make a BERT with a projection to ``dim`` behind it, its weights named as those of colbertv2.0 are."""
    save_checkpoint(folder, "bert", pooling=None, seed=seed)
    bert = load_file(folder / "model.safetensors")
    weights = {f"bert.{name}": weight for name, weight in bert.items()}
    save_file({**weights, "linear.weight": torch.randn(dim, 16)}, folder / "model.safetensors", {"format": "pt"})
    change(folder / "config.json", architectures=["HF_ColBERT"])
    return folder


def save_tokenizer(folder: Path, *, pad: bool = True, cls_last: bool = False, bare: bool = False, **options) -> None:
    """Save a word-level tokenizer over ``WORDS`` that puts [CLS] before (or behind) and [SEP] after each text.

    ``bare`` leaves both out.
    """
    special = dict(SPECIAL)
    vocabulary = {word: row for row, word in enumerate([*special.values(), *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(token, vocabulary[token]) for token in ("[SEP]", "[CLS]")]
    template = "$A [SEP] [CLS]" if cls_last else "[CLS] $A [SEP]"
    if not bare:
        words.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    if not pad:
        del special["pad_token"]
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special, **options).save_pretrained(folder)


def flag_model(model: Any) -> Any:
    """Load a model's folder as FlagEmbedding's ``FlagModel``, with the same pooling, instructions and lengths."""
    from FlagEmbedding import FlagModel

    info = model.info
    return FlagModel(
        str(model.folder), pooling_method=info.pooling, devices=model.device, use_fp16=False, truncate_dim=info.dim,
        query_instruction_for_retrieval=info.query_instruction or None,
        passage_instruction_for_retrieval=info.passage_instruction or None,
        query_max_length=info.length("query"), passage_max_length=info.max_length,
    )  # fmt: skip
