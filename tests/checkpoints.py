"""Tiny checkpoints with random weights, saved to disk as real ones are, one for each architecture we meet."""

import json
from pathlib import Path

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
SIZES = {"vocab_size": len(SPECIAL) + len(WORDS), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFIGS = {
    "bert": transformers.BertConfig(**SIZES, intermediate_size=32, max_position_embeddings=64),
    "roberta": transformers.RobertaConfig(**SIZES, intermediate_size=32, max_position_embeddings=66, pad_token_id=0),
    "mpnet": transformers.MPNetConfig(**SIZES, intermediate_size=32, max_position_embeddings=66, pad_token_id=0),
    "xlnet": transformers.XLNetConfig(vocab_size=SIZES["vocab_size"], d_model=16, n_layer=2, n_head=2, d_inner=32),
    "gpt2": transformers.GPT2Config(vocab_size=SIZES["vocab_size"], n_embd=16, n_layer=2, n_head=2, n_positions=64),
    "t5": transformers.T5Config(
        vocab_size=SIZES["vocab_size"], d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
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
    model = transformers.AutoModel.from_config(CONFIGS[architecture])
    model.save_pretrained(folder)
    if architecture == "xlnet":
        tokenizer = {"padding_side": "left", "cls_last": True, **tokenizer}
    save_tokenizer(folder, **tokenizer)
    if pooling is not None:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}_tokens": True}))
    return folder


def save_colbert(folder: Path, *, dim: int = 4, seed: int = 0) -> Path:
    """Make a BERT with a projection to ``dim`` behind it, its weights named as those of colbertv2.0 are."""
    save_checkpoint(folder, "bert", pooling=None, seed=seed)
    bert = load_file(folder / "model.safetensors")
    weights = {f"bert.{name}": weight for name, weight in bert.items()}
    save_file({**weights, "linear.weight": torch.randn(dim, 16)}, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["HF_ColBERT"]}))
    return folder


def save_tokenizer(folder: Path, *, pad: bool = True, cls_last: bool = False, **options) -> None:
    """Save a word-level tokenizer over ``WORDS`` that puts [CLS] before (or behind) and [SEP] after each text."""
    special = dict(SPECIAL)
    vocabulary = {word: row for row, word in enumerate([*special.values(), *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(token, vocabulary[token]) for token in ("[SEP]", "[CLS]")]
    template = "$A [SEP] [CLS]" if cls_last else "[CLS] $A [SEP]"
    words.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    if not pad:
        del special["pad_token"]
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special, **options).save_pretrained(folder)
