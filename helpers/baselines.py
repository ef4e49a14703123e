"""Word-matching baselines, BM25 and TF-IDF: what an embedding model has to beat."""

import logging
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

ENGLISH = """a an and are as at be but by can do does for from how if in into is it its my no not of on or so than
that the their there these they this to was what when where which who why will with you your"""
CHINESE = "的 了 是 在 和 有 吗 呢 什么 怎么 为什么 怎样 如何 哪些 哪个 多少 会 能 与 及 也 就 都 而"
STOP_WORDS = frozenset(f"{ENGLISH} {CHINESE}".split())
HAN = re.compile(r"[\u3400-\u9fff]")


def tokenize(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Cut texts into lower-case words without stop words; Chinese, which writes no spaces, is cut by jieba."""
    return [_words(text) for text in texts]


@lru_cache(maxsize=1 << 14)  # one collection is cut for TF-IDF and again for BM25
def _words(text: str) -> tuple[str, ...]:
    """Cut one text."""
    import jieba

    jieba.setLogLevel(logging.ERROR)
    cut = jieba.lcut(text) if HAN.search(text) else re.findall(r"\w+", text)
    return tuple(word for word in map(str.lower, cut) if word.isalnum() and word not in STOP_WORDS)


def bm25_search(corpus: Sequence[str], queries: Sequence[str], k: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rank passages by BM25 (Robertson and Zaragoza 2009), computed by ``bm25s`` with k1 = 1.5, b = 0.75.

    The variant is Lucene's: the inverse document frequency is never negative.

    Args:
        corpus: n passages.
        queries: q queries.
        k: how many passages a query, at most n.

    Returns:
        scores: float32 (q, k), the best first; equal scores by ascending id. Passages that share no word with the
            query score 0 and fill the rest of the list.
        ids: int64 (q, k), row numbers of the corpus.
    """
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    retriever.index(tokenize(corpus), show_progress=False)
    known = retriever.vocab_dict
    words = [[word for word in query if word in known] for query in tokenize(queries)]
    nothing = np.zeros(len(corpus), np.float32)
    return rank(np.stack([retriever.get_scores(query) if query else nothing for query in words]), k)


def tfidf_search(corpus: Sequence[str], queries: Sequence[str], k: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rank passages by the cosine of TF-IDF vectors, computed by scikit-learn with sublinear term frequency.

    Arguments and results are those of :func:`bm25_search`.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=lambda words: words, sublinear_tf=True)
    passages = vectorizer.fit_transform(tokenize(corpus))
    return rank((vectorizer.transform(tokenize(queries)) @ passages.T).toarray().astype(np.float32), k)


def rank(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Order a full score matrix (q, n): the k best of each row, equal scores by ascending id.

    Raises:
        ValueError: k out of range.
    """
    if not 1 <= k <= scores.shape[1]:
        raise ValueError(f"k={k!r}: expected a whole number from 1 to {scores.shape[1]}, the passages in the corpus.")
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, ids, axis=1), ids
