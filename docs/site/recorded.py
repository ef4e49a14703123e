"""Rankings in the page, where no network runs: those of a real run take its place, and all that follows is computed.

rankings.npz has the scores and ids of each system of lessons 03 and 04 on each of their collections, and what is known
of each model. `python -m tests.site.recorded` writes it, and a test ranks again.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import helpers.embeddings
import helpers.models
from docs.site.runner import ElsewhereError
from helpers.data import RetrievalDataset
from helpers.models import OFFLINE_DEFAULT, ModelInfo
from helpers.systems import contenders, pipeline
from helpers.systems.pipeline import Dense, Ranking, Retrieval, Words

FILE = Path(__file__).with_name("rankings.npz")
MODELS = "models"  # the name of the infos in it


@dataclass(frozen=True)
class Network:
    """Stands for a network that does not run in the page: what is known of it, and nothing that computes."""

    info: ModelInfo
    projection: None = None
    device: str = "recorded"


def key(data: RetrievalDataset, system: Retrieval) -> str:
    """Return the name of a ranking in the file: digest of the collection, and model with pooling, or baseline.

    Raises ElsewhereError for a kind of system that lessons 03 and 04 do not have.
    """
    if isinstance(system, Words):
        return f"{data.sha256}/{system.name}"
    if isinstance(system, Dense):
        return f"{data.sha256}/{system.model.info.name}/{system.pooling}"
    raise ElsewhereError("ranking")


def use() -> None:
    """Put what was recorded in the place of networks and indexes; must come before a lesson imports them.

    Whatever else a cell wants of a network, and a ranking that the file lacks, raises ElsewhereError.
    """
    with np.load(FILE) as arrays:
        file = dict(arrays)
    infos = {info["name"]: ModelInfo(**info) for info in json.loads(str(file[MODELS]))}

    def rank(system: Retrieval, data: RetrievalDataset, k: int) -> Ranking:
        name = key(data, system)
        if f"{name}/ids" not in file or k > file[f"{name}/ids"].shape[1]:
            raise ElsewhereError("ranking")
        return Ranking(file[f"{name}/scores"][:, :k], file[f"{name}/ids"][:, :k].astype(np.int64))

    def load_model(name_or_path: str | Path = OFFLINE_DEFAULT, *, backend: str | None = None) -> Network:
        if name_or_path not in infos or backend != "transformers":
            raise ElsewhereError("network")
        return Network(infos[str(name_or_path)])

    def variant(kind: str) -> Any:
        return lambda model: Network(infos[f"{model.info.name} ({kind})"])

    def no_network(*_: object, **__: object) -> None:
        raise ElsewhereError("network")

    transformer: Any = ModuleType("helpers.models.transformer")  # the real one needs PyTorch
    transformer.static, transformer.untrained = variant("static"), variant("untrained")
    sys.modules[transformer.__name__] = transformer
    page: Any
    for page, name, replacement in (
        (helpers.models, "load_model", load_model),
        (contenders, "load_model", load_model),
        (contenders, "encode_pooled", lambda *_, **__: None),  # would fill a cache before the first ranking
        (helpers.embeddings, "Store", no_network),  # with which all encoding begins
        (pipeline.Retrieval, "rank", rank),
    ):
        setattr(page, name, replacement)
