"""Compare models and poolings on one collection: checkpoints to rankings, each text run through each model once."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from helpers import collections
from helpers.baselines import bm25_search, rank, tfidf_search
from helpers.data import RetrievalDataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.models import OFFLINE_DEFAULT
from helpers.pooling import (
    Encoder,
    Pooling,
    compared_tokens,
    encode_pooled,
    load_encoder,
    maxsim,
    static,
    untrained,
)

if TYPE_CHECKING:
    from FlagEmbedding import FlagModel

UPSTREAM_MODELS = (
    "google-bert/bert-base-uncased",
    "FacebookAI/roberta-base",
    OFFLINE_DEFAULT,
    "colbert-ir/colbertv2.0",
    "xlnet/xlnet-base-cased",
)
SETS = ("offline", "hub")


class Ranking(NamedTuple):
    """What a system retrieved: ``scores`` and ``ids``, each (q, k), the best first."""

    scores: np.ndarray
    ids: np.ndarray


class Contender(NamedTuple):
    """An encoder, and the poolings under which it is compared."""

    encoder: Encoder
    poolings: tuple[Pooling, ...]


def upstream_example() -> tuple[RetrievalDataset, dict[str, np.ndarray]]:
    """Read the experiment that the upstream tutorial published: five questions, ten sentences, five models.

    Returns:
        The collection, and for each model the sentences it ranked first and second, int64 (5, 2), as published.
        These rankings are quoted, not computed here.
    """
    path = collections.FOLDER / "upstream_mrr_example.json"
    try:
        example = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        state = "missing" if isinstance(error, FileNotFoundError) else f"damaged ({error})"
        raise ValueError(f"The bundled file {path.name} is {state}; reinstall the package.") from error
    queries, sentences = example["queries"], example["sentences"]
    ids = ([str(row) for row in range(len(texts))] for texts in (queries, sentences))
    qrels = [dict.fromkeys(rows, 1) for rows in example["relevant"]]
    data = RetrievalDataset("upstream's example", queries, sentences, qrels, *ids)
    return data, {name: np.array(top2) for name, top2 in example["published_top2"].items()}


def load_contenders(models: str = "offline", *, allow_pickle: bool = False) -> dict[str, Contender]:
    """Load the models to compare.

    Args:
        models: ``"offline"``: the bundled MiniLM under every pooling, its input embeddings alone, and an untrained
            twin. ``"hub"``: the five models of the upstream tutorial, under the mean, right and wrong, and
            colbertv2.0 under MaxSim as well; about 2 GB are downloaded the first time.
        allow_pickle: accept models that have only pickled weights.

    Raises:
        ValueError: an unknown set, or what :func:`helpers.pooling.load_encoder` raises.
        ConnectionError: a model is not at hand and the hub cannot be reached.
    """
    if models == "offline":
        minilm = load_encoder(OFFLINE_DEFAULT)
        return {
            "MiniLM": Contender(minilm, tuple(Pooling)),
            "static": Contender(static(minilm), (Pooling.MEAN,)),
            "untrained": Contender(untrained(minilm), (Pooling.MEAN,)),
        }
    if models != "hub":
        raise ValueError(f"models={models!r}: expected one of {', '.join(map(repr, SETS))}.")
    loaded = {}
    for hub_id in UPSTREAM_MODELS:
        encoder = load_encoder(hub_id, allow_pickle=allow_pickle)
        late = (Pooling.MAXSIM,) if encoder.projection is not None else ()
        loaded[short_name(hub_id)] = Contender(encoder, (Pooling.MEAN, Pooling.UNMASKED_MEAN, *late))
    return loaded


def short_name(hub_id: str) -> str:
    """Return the name under which tables list a model: MiniLM, or the hub id without its owner."""
    return "MiniLM" if hub_id == OFFLINE_DEFAULT else hub_id.rsplit("/", 1)[-1]


def rank_all(
    contenders: Mapping[str, Contender], data: RetrievalDataset, k: int = 10, *, progress: bool = True
) -> dict[str, Ranking]:
    """Rank a corpus by every contender under each of its poolings, and by TF-IDF and BM25.

    Returns:
        ``"name, pooling"`` → :class:`Ranking`, and ``"TF-IDF"`` and ``"BM25"``.
    """
    found = {}
    for name, (encoder, poolings) in contenders.items():
        ranked = rank_by(encoder, data, poolings, k, progress=progress)
        found |= {f"{name}, {pooling}": ranking for pooling, ranking in ranked.items()}
    for name, baseline in (("TF-IDF", tfidf_search), ("BM25", bm25_search)):
        found[name] = Ranking(*baseline(data.corpus, data.queries, k))
    return found


def rank_by(
    encoder: Encoder,
    data: RetrievalDataset,
    poolings: Iterable[str] = (Pooling.MEAN,),
    k: int = 10,
    **options: object,
) -> dict[Pooling, Ranking]:
    """Rank a corpus for its queries under several poolings of one encoder, by cosine or by MaxSim.

    Args:
        encoder: what :func:`helpers.pooling.load_encoder` returned.
        data: what to search, and for what.
        poolings: members of :class:`helpers.pooling.Pooling`, or their values.
        k: how many passages a query.
        options: ``batch_size``, ``cache_dir`` and ``progress`` of :func:`helpers.pooling.encode_pooled`.

    Raises:
        ValueError: k out of range, or what :func:`helpers.pooling.encode_pooled` raises.
    """
    poolings = list(poolings)
    queries = encode_pooled(encoder, data.queries, poolings, kind="query", **options)
    passages = encode_pooled(encoder, data.corpus, poolings, **options)
    found = {}
    for pooling in queries:
        if pooling is Pooling.MAXSIM:
            found[pooling] = Ranking(*rank(maxsim(queries[pooling], passages[pooling]), k))
        else:
            found[pooling] = Ranking(*search(build_index(passages[pooling]), queries[pooling], k))
    return found


def rank_as_its_card_says(model: "FlagModel", data: RetrievalDataset, k: int = 10, **options: object) -> Ranking:
    """Rank a corpus by one model used as its authors do: with its own pooling and instructions.

    Args:
        model: what :func:`helpers.models.load_model` returned.
        data: what to search, and for what.
        k: how many passages a query.
        options: ``batch_size``, ``cache_dir`` and ``progress`` of :func:`helpers.embeddings.encode`.

    Raises:
        ValueError: k out of range, or what :func:`helpers.embeddings.encode` raises.
    """
    queries = encode(model, data.queries, kind="query", **options)
    return Ranking(*search(build_index(encode(model, data.corpus, **options)), queries, k))


def match_table(encoder: Encoder, query: str, passage: str, **options: object) -> pd.DataFrame:
    """Show how MaxSim scores a pair: for each query token the passage token closest to it, and their cosine.

    The cosines add up to the score. ``options`` as in :func:`rank_by`.
    """
    sides = {"query": query, "passage": passage}
    vectors = {
        kind: encode_pooled(encoder, [text], [Pooling.MAXSIM], kind=kind, **options)[Pooling.MAXSIM].vectors
        for kind, text in sides.items()
    }
    tokens = {kind: compared_tokens(encoder, text, kind) for kind, text in sides.items()}
    cosines = vectors["query"] @ vectors["passage"].T
    return pd.DataFrame(
        {
            "query token": tokens["query"],
            "closest passage token": [tokens["passage"][best] for best in cosines.argmax(axis=1)],
            "cosine": cosines.max(axis=1),
        }
    )
