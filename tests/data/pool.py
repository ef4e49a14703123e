"""The systems whose rankings were pooled for the second edition of the pocket collection, and some held back from it.

Four directions: English queries over the English corpus, Chinese over Chinese, and each over the other.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise, product

import bm25s
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import normalize

from helpers.data import RetrievalDataset, load_dataset
from helpers.index import BM25Index
from helpers.index.order import top_k
from helpers.index.words import STOP_WORDS, matches, tokenize
from helpers.models import MULTILINGUAL, load_model
from helpers.systems import load_contenders, rank, rank_all

DEPTH = 20
SHALLOW = 10  # where a ranking is noise further down: a language it cannot read, or next to nothing to go by
UNITS = ("words", "words-no-hmm", "words-search", "characters", "bigrams")
FAMILIES = {  # by the beginning of a name
    "MiniLM": "the bundled network", "static": "the bundled network", "multilingual": "the multilingual network",
    "BM25": "BM25", "TF-IDF": "TF-IDF and its kin", "LSA": "TF-IDF and its kin", "hashed": "TF-IDF and its kin",
}  # fmt: skip
HASHED = {"en": (3, 12), "zh": (2, 16)}  # characters of a run, bits of the number of columns
DIRECTIONS = [(queries, corpus) for queries in ("en", "zh") for corpus in ("en", "zh")]
Rankings = dict[str, np.ndarray]


def direction(queries: str, corpus: str) -> RetrievalDataset:
    """Load the collection with queries and corpus in these languages."""
    return load_dataset(f"pocket-{queries}" if queries == corpus else f"pocket-{queries}-{corpus}")


@cache
def pooled(queries: str, corpus: str) -> Rankings:
    """Rank one direction by every pooled system: ids (q, DEPTH), -1 where fewer were retrieved or looked at."""
    data = direction(queries, corpus)
    networks = load_contenders("offline")
    del networks["untrained"]
    rankings = {name: found.ids for name, found in rank_all(networks, data, DEPTH, progress=False).items()}
    for unit, stop_words, k1 in product(
        UNITS if "zh" in (queries, corpus) else UNITS[:1], (STOP_WORDS, ()), (0.9, 1.5)
    ):
        index = BM25Index(data.corpus, unit, k1=k1, stop_words=stop_words)
        kept = "without" if stop_words else "with"
        rankings[f"BM25 of {unit}, {kept} stop words, k1 {k1}"] = index.search(data.queries, DEPTH)[1]
    if queries == corpus:
        rankings |= _n_grams(data, corpus) | _added_later(data, corpus)
    readers = {"multilingual-e5-small": rank(load_model(MULTILINGUAL), data, DEPTH).ids}
    if queries != corpus:
        rankings = {name: _cut(ids, SHALLOW) for name, ids in rankings.items()}
    if corpus == "zh":
        blind = ("MiniLM", "static")
        rankings = {n: _cut(ids, SHALLOW) if n.startswith(blind) else ids for n, ids in rankings.items()}
    rankings |= readers
    first = "MiniLM, mean"
    rankings[f"{first} + BM25"] = fused(rankings[first], rankings["BM25"])
    rankings["multilingual-e5-small + BM25"] = fused(readers["multilingual-e5-small"], rankings["BM25"])
    return rankings


def family(name: str) -> str:
    """Return the family of a pooled system; a fusion goes with the network in it."""
    return next((kind for start, kind in FAMILIES.items() if name.startswith(start)), name)


def _cut(ids: np.ndarray, depth: int) -> np.ndarray:
    """Keep so many ranks."""
    return np.where(np.arange(ids.shape[1]) < depth, ids, -1)


def fused(*rankings: np.ndarray) -> np.ndarray:
    """Fuse rankings by reciprocal rank (Cormack, Clarke and Büttcher 2009): the sum of 1 / (60 + rank)."""
    size = max(int(ids.max()) for ids in rankings) + 1
    scores = np.zeros((len(rankings[0]), size), np.float32)
    for ids in rankings:
        for row, rank_, passage in ((row, r, p) for row, ps in enumerate(ids) for r, p in enumerate(ps) if p >= 0):
            scores[row, passage] += 1 / (61 + rank_)
    return matches(scores, DEPTH)[1]


def _tfidf(data: RetrievalDataset, depth: int = DEPTH, **options: object) -> np.ndarray:
    """Rank by the cosine of TF-IDF vectors."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    passages = vectorizer.fit_transform(data.corpus)
    return matches((vectorizer.transform(data.queries) @ passages.T).toarray().astype(np.float32), depth)[1]


def _feedback(data: RetrievalDataset, analyzer: Callable[[str], list[str]]) -> np.ndarray:
    """Rank by TF-IDF with blind feedback (Rocchio 1971): half the mean of the five best is added; ids (q, 10)."""
    vectorizer = TfidfVectorizer(analyzer=analyzer, sublinear_tf=True)
    passages = vectorizer.fit_transform(data.corpus).toarray()
    queries = vectorizer.transform(data.queries).toarray()
    best = matches((queries @ passages.T).astype(np.float32), 5)[1]
    added = np.stack([passages[row[row >= 0]].sum(0) for row in best])
    return matches((normalize(queries + added / 10) @ passages.T).astype(np.float32), 10)[1]


def _latent(data: RetrievalDataset, analyzer: Callable[[str], list[str]]) -> np.ndarray:
    """Rank by latent semantic analysis: TF-IDF in 200 dimensions."""
    vectorizer = TfidfVectorizer(analyzer=analyzer, sublinear_tf=True)
    passages = vectorizer.fit_transform(data.corpus)
    queries = vectorizer.transform(data.queries)
    reduced = TruncatedSVD(200, random_state=0).fit(passages)
    one, two = (normalize(reduced.transform(vectors)) for vectors in (passages, queries))
    return top_k((two @ one.T).astype(np.float32), DEPTH)[1]


def _n_grams(data: RetrievalDataset, language: str) -> Rankings:
    """Rank by runs of characters, and by latent semantic analysis."""
    sizes = {"en": [("char_wb", (3, 5))], "zh": [("char", (1, 2)), ("char_wb", (2, 4))]}[language]
    rankings = {f"TF-IDF of {kind} {low}-{high}": _tfidf(data, analyzer=kind, ngram_range=(low, high))
                for kind, (low, high) in sizes}  # fmt: skip
    unit = "words" if language == "en" else "bigrams"
    rankings["LSA"] = _latent(data, lambda text: list(tokenize([text], unit)[0]))
    return rankings


def _added_later(data: RetrievalDataset, language: str) -> Rankings:
    """Rank by systems unlike the others: runs of four characters, titles alone, the share of words in common.

    BM25 of runs of four characters finds a word in its other forms (McNamee and Mayfield 2004,
    doi:10.1023/B:INRT.0000009441.78971.be); in Chinese, BM25 of bigrams takes its place.
    """
    unit = "words" if language == "en" else "bigrams"
    titles = [passage.split("\n")[0] for passage in data.corpus]
    rankings = {
        "BM25 of titles": _cut(BM25Index(titles, unit).search(data.queries, DEPTH)[1], SHALLOW),
        "Jaccard's share of words": _cut(_jaccard(data, unit), SHALLOW),
    }
    size, bits = HASHED[language]
    rankings["hashed runs of characters"] = _cut(_hashed(data, "char", size, bits), SHALLOW)
    return rankings | ({"BM25 of runs of four characters": _bm25_of_runs(data, 4)} if language == "en" else {})


def _hashed(data: RetrievalDataset, analyzer: str, size: int, bits: int) -> np.ndarray:
    """Rank by TF-IDF of runs of characters hashed into 2**bits columns, in which unlike runs meet."""
    hashing = HashingVectorizer(analyzer=analyzer, ngram_range=(size, size), n_features=2**bits, alternate_sign=False)
    passages, queries = hashing.transform(data.corpus), hashing.transform(data.queries)
    weights = TfidfTransformer().fit(passages)
    scores = weights.transform(queries) @ weights.transform(passages).T
    return matches(scores.toarray().astype(np.float32), DEPTH)[1]


def _bm25_of_runs(data: RetrievalDataset, size: int) -> np.ndarray:
    """Rank by BM25 of all runs of so many characters, spaces among them."""
    split = CountVectorizer(analyzer="char", ngram_range=(size, size)).build_analyzer()
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index([split(passage) for passage in data.corpus], show_progress=False)
    known = [[run for run in split(query) if run in index.vocab_dict] for query in data.queries]
    return matches(np.stack([index.get_scores(runs) for runs in known]), DEPTH)[1]


def _jaccard(data: RetrievalDataset, unit: str) -> np.ndarray:
    """Rank by the words in common, divided by the words in either text (Jaccard): short passages come first."""
    passages, queries = ([set(words) for words in tokenize(texts, unit)] for texts in (data.corpus, data.queries))
    scores = [[len(one & two) / max(1, len(one | two)) for two in passages] for one in queries]
    return matches(np.array(scores, np.float32), DEPTH)[1]


def held_back(language: str) -> Rankings:
    """Rank by systems that had no part in the pool: ids (q, 10)."""
    data = direction(language, language)
    split = partial(tokenize, unit="words" if language == "en" else "words-no-hmm", stop_words=())
    stem = (lambda word: re.sub(r"(?<=\w{3})(?:ing|ed|es|s)$", "", word)) if language == "en" else str
    passages, queries = ([list(map(stem, words)) for words in split(texts)] for texts in (data.corpus, data.queries))
    counts = [Counter(words) for words in passages]
    occurs, total = Counter(w for c in counts for w in c), Counter(w for words in passages for w in words)
    mean, size = np.mean([len(words) for words in passages]), sum(total.values())

    def okapi(word: str, count: Counter[str], length: int) -> float:
        """Score a word as Okapi BM25 does, k1 = 1.2, b = 0.5."""
        idf = np.log(1 + (len(passages) - occurs[word] + 0.5) / (occurs[word] + 0.5))
        return float(idf * count[word] * 2.2 / (count[word] + 1.2 * (0.5 + 0.5 * length / mean)))

    def likelihood(word: str, count: Counter[str], length: int) -> float:
        """Score a word by the likelihood of the query, Dirichlet's smoothing with mu = 100, above the background's."""
        return float(np.log((count[word] + 100 * total[word] / size) * size / (total[word] * (length + 100))))

    def with_pairs(text: str) -> list[str]:
        """Split a text into words and pairs of neighbours."""
        words = tokenize([text])[0]
        return [*words, *map("_".join, pairwise(words))]

    def ranking(score: Callable[[str, Counter[str], int], float], fewest: float) -> np.ndarray:
        scores = np.full((len(queries), len(passages)), fewest, np.float32)
        for row, words in enumerate(queries):
            for column, count in enumerate(counts):
                if any(word in count for word in words):
                    scores[row, column] = sum(score(w, count, len(passages[column])) for w in words if w in total)
        return top_k(scores, 10)[1] if fewest else matches(scores, 10)[1]

    n_grams = {"en": (1, 3), "zh": (2, 3)}[language]
    unit = "words" if language == "en" else "bigrams"
    return {
        "Okapi BM25 of stems": ranking(okapi, 0.0),
        "query likelihood of stems": ranking(likelihood, -1e9),
        "TF-IDF of words and pairs": _tfidf(data, 10, analyzer=with_pairs),
        "TF-IDF of long runs of characters": _tfidf(data, 10, analyzer="char", ngram_range=(2 * n_grams[0], 5)),
        "hashed runs within words": _hashed(data, "char_wb", HASHED[language][0], HASHED[language][1] + 1)[:, :10],
        "TF-IDF of words with feedback": _feedback(data, lambda text: list(tokenize([text], unit)[0])),
    }
