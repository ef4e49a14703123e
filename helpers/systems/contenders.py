"""The models and poolings that lesson 3 compares, and the ranking of a collection by each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.data import RetrievalDataset
from helpers.embeddings import encode_pooled
from helpers.models import MULTILINGUAL, OFFLINE_DEFAULT, Model, Pooling, Precomputed, load_model
from helpers.systems.pipeline import Dense, Ranking, rank

UPSTREAM_MODELS = (
    "google-bert/bert-base-uncased",
    "FacebookAI/roberta-base",
    OFFLINE_DEFAULT,
    "colbert-ir/colbertv2.0",
    "xlnet/xlnet-base-cased",
)


class Contender(NamedTuple):
    """A model, and the poolings under which it is compared; none for vectors computed elsewhere."""

    model: Model
    poolings: tuple[str, ...]


def load_contenders(
    models: str | Path | Sequence[str | Path] = "offline", base: str | Path = OFFLINE_DEFAULT
) -> dict[str, Contender]:
    """Load the models to compare, by their names in tables.

    Args:
        models: ``"offline"``: ``base`` under every pooling, its input embeddings alone, and an untrained twin.
            ``"hub"``: the five models of the upstream tutorial under mean pooling, with and without the mask; MiniLM
            under every pooling, colbertv2.0 also under MaxSim; downloads about 2 GB the first time.
            Otherwise your own models, compared with the offline ones: a folder or hub id, or a list of these. A folder
            may hold embeddings of the collection.
        base: the network of the offline models: the bundled MiniLM, or a model of another language.
    """
    from helpers.models.transformer import static, untrained  # slow to import

    if models == "hub":
        means = (Pooling.MEAN, Pooling.UNMASKED_MEAN)
        chosen = {hub_id: tuple(Pooling) if hub_id == OFFLINE_DEFAULT else means for hub_id in UPSTREAM_MODELS}
        return {short_name(hub_id): _contender(hub_id, poolings) for hub_id, poolings in chosen.items()}
    network = _contender(base).model
    if isinstance(network, Precomputed):
        raise ValueError(f"{base} holds embeddings, which cannot be pooled another way: give a model.")
    contenders = {
        short_name(str(base)): Contender(network, tuple(Pooling)),
        "static": Contender(static(network), (Pooling.MEAN,)),
        "untrained": Contender(untrained(network), (Pooling.MEAN,)),
    }
    listed = [] if models == "offline" else [models] if isinstance(models, str | Path) else models
    for name_or_path in listed:
        if (name := short_name(str(name_or_path))) in contenders:
            raise ValueError(f"Two models are called {name!r}: give {str(name_or_path)!r} as a folder of another name.")
        contenders[name] = _contender(name_or_path)
    return contenders


def _contender(name_or_path: str | Path, poolings: tuple[str, ...] = ()) -> Contender:
    """Load a model to compare under some poolings, by default its own, and under MaxSim if it is made for that."""
    model = load_model(name_or_path, backend="transformers")
    if isinstance(model, Precomputed):
        return Contender(model, ())
    chosen = poolings or (model.info.pooling or Pooling.MEAN,)
    return Contender(model, chosen if model.projection is None else (*chosen, Pooling.MAXSIM))


def short_name(hub_id: str) -> str:
    """Return the name of a model in tables: MiniLM, mE5, or the hub id without its owner."""
    return {OFFLINE_DEFAULT: "MiniLM", MULTILINGUAL: "mE5"}.get(hub_id) or hub_id.rstrip("/").rsplit("/", 1)[-1]


def rank_all(
    contenders: Mapping[str, Contender], data: RetrievalDataset, k: int = 10, *, progress: bool = True
) -> dict[str, Ranking]:
    """Rank a corpus by every contender under each of its poolings, by TF-IDF and by BM25; the names: ``name, pooling``.

    Each network reads each text once: the vectors of all poolings are cached before the first ranking.
    """
    rankings = {}
    for name, (model, poolings) in contenders.items():
        if isinstance(model, Precomputed):
            rankings[name] = rank(Dense(model), data, k)
            continue
        for texts, kind in ((data.corpus, "passage"), (data.queries, "query")):
            encode_pooled(model, texts, poolings, kind=kind, progress=progress)
        for pooling in poolings:
            rankings[f"{name}, {pooling}"] = rank(Dense(model, pooling, progress=False), data, k)
    for name in ("TF-IDF", "BM25"):
        rankings[name] = rank(name, data, k)
    return rankings
