"""The models that lesson 03 compares: which ones, under which poolings, and all of them on one collection."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helpers._hub import is_hub_id
from helpers.data import RetrievalDataset
from helpers.embeddings import encode_pooled
from helpers.models import OFFLINE_DEFAULT, Pooling, Precomputed, load_model
from helpers.systems.pipeline import Dense, Ranking, rank

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

UPSTREAM_MODELS = (
    "google-bert/bert-base-uncased",
    "FacebookAI/roberta-base",
    OFFLINE_DEFAULT,
    "colbert-ir/colbertv2.0",
    "xlnet/xlnet-base-cased",
)


class Contender(NamedTuple):
    """A model, and the poolings under which it is compared."""

    model: "TransformerModel"
    poolings: tuple[str, ...]


def load_contenders(
    models: str | Path | Sequence[str | Path] | Mapping[str, str | Path] = "offline",
) -> dict[str, Contender]:
    """Load the models to compare.

    Args:
        models: ``"offline"``: the bundled MiniLM under every pooling, its input embeddings alone, and an untrained
            twin. ``"hub"``: the five models of the upstream tutorial, under the mean, right and wrong, and
            colbertv2.0 under MaxSim as well; about 2 GB are downloaded the first time. Anything else is models of
            your own, which stand beside the offline ones: a folder or hub id, a list of these, or a dict of them by
            the names that the tables shall show.

    Raises:
        ValueError: no such set or folder, two models of one name, embeddings instead of a model, or what
            :func:`helpers.models.load_model` raises.
        ConnectionError: a model is not at hand and the hub cannot be reached.
    """
    from helpers.models.transformer import static, untrained

    if models == "hub":
        networks = {short_name(hub_id): _load_network(hub_id) for hub_id in UPSTREAM_MODELS}
        wrong_too = (Pooling.MEAN, Pooling.UNMASKED_MEAN)
        return {name: Contender(network, (*wrong_too, *_maxsim(network))) for name, network in networks.items()}
    minilm = _load_network(OFFLINE_DEFAULT)
    contenders = {
        short_name(OFFLINE_DEFAULT): Contender(minilm, tuple(how for how in Pooling if how is not Pooling.LAST_TOKEN)),
        "static": Contender(static(minilm), (Pooling.MEAN,)),
        "untrained": Contender(untrained(minilm), (Pooling.MEAN,)),
    }
    for name, name_or_path in _named({} if models == "offline" else models):
        if name in contenders:
            raise ValueError(f'Two models are called {name!r}: give them names, {{"mine": {str(name_or_path)!r}}}.')
        network = _load_network(name_or_path)
        contenders[name] = Contender(network, (network.info.pooling or Pooling.MEAN, *_maxsim(network)))
    return contenders


def _named(
    models: str | Path | Sequence[str | Path] | Mapping[str, str | Path],
) -> Iterable[tuple[str, str | Path]]:
    if isinstance(models, Mapping):
        return models.items()
    if isinstance(models, str) and not (is_hub_id(models) or Path(models).expanduser().is_dir()):
        raise ValueError(f"models={models!r}: expected 'offline', 'hub', a folder or a hub id, owner/name.")
    listed = [models] if isinstance(models, (str, Path)) else models
    return [(short_name(str(name_or_path).rstrip("/")), name_or_path) for name_or_path in listed]


def _load_network(name_or_path: str | Path) -> "TransformerModel":
    model = load_model(name_or_path, backend="transformers")
    if isinstance(model, Precomputed):
        raise ValueError(f"{name_or_path} holds embeddings, which cannot be pooled another way: give a model.")
    return model


def _maxsim(network: "TransformerModel") -> tuple[Pooling, ...]:
    # A network with ColBERT's projection was trained for MaxSim.
    return () if network.projection is None else (Pooling.MAXSIM,)


def short_name(hub_id: str) -> str:
    """Return the name under which tables list a model: MiniLM, or the hub id without its owner."""
    return "MiniLM" if hub_id == OFFLINE_DEFAULT else hub_id.rsplit("/", 1)[-1]


def rank_all(
    contenders: Mapping[str, Contender], data: RetrievalDataset, k: int = 10, *, progress: bool = True
) -> dict[str, Ranking]:
    """Rank a corpus by every contender under each of its poolings, and by TF-IDF and BM25.

    Each text runs through each network once: its vectors under all poolings are in the cache before the first ranking.

    Returns:
        ``"name, pooling"`` → :class:`Ranking`, and ``"TF-IDF"`` and ``"BM25"``.
    """
    rankings = {}
    for name, (model, poolings) in contenders.items():
        for texts, kind in ((data.corpus, "passage"), (data.queries, "query")):
            encode_pooled(model, texts, poolings, kind=kind, progress=progress)
        for pooling in poolings:
            rankings[f"{name}, {pooling}"] = rank(Dense(model, pooling, progress=False), data, k)
    for name in ("TF-IDF", "BM25"):
        rankings[name] = rank(name, data, k)
    return rankings
