"""Texts for a tiny model, and their vectors without a cluster."""

from pathlib import Path

import numpy as np
import torch

from helpers.embeddings import Shards, encode_shards
from tests.checkpoints import WORDS


def texts(count: int, seed: int = 0) -> list[str]:
    """Make texts of eight words that the tiny models know."""
    rng = np.random.default_rng(seed)
    return [" ".join(words) for words in rng.choice(WORDS[:15], (count, 8))]


def in_one_process(model: object, texts: list[str], shard_size: int, folder: Path) -> Shards:
    """Encode in this process, with one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    shards = encode_shards(model, texts, folder=folder, shard_size=shard_size)
    torch.set_num_threads(threads)
    return shards


def files(folder: Path) -> list[str]:
    """Name the shards in a folder."""
    return sorted(path.name for path in folder.glob("*.npy"))
