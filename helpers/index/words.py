"""Word-matching baselines, BM25 and TF-IDF, which an embedding model has to beat."""

import logging
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers._notes import Note
from helpers.index.order import parse_settings

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PADDING = -1
PRODUCTS_AT_ONCE = 1 << 22  # of sparse vectors: 32 MiB

ENGLISH = """a an and are as at be but by can do does for from how if in into is it its my no not of on or so than
that the their there these they this to was what when where which who why will with you your"""
CHINESE = "的 了 是 在 和 有 吗 呢 什么 怎么 为什么 怎样 如何 哪些 哪个 多少 会 能 与 及 也 就 都 而"
STOP_WORDS = frozenset(f"{ENGLISH} {CHINESE}".split())
HAN = re.compile(r"[\u3007\u3400-\u9fff\U00020000-\U0003ffff]+")
FRACTION = re.compile(r"[\u00bc-\u00be\u2150-\u215f\u2189]")  # NFKC would make 81/2 of 8½

DEFAULT_UNIT = "words-no-hmm"  # of plain "BM25" and "TF-IDF"


def tokenize(
    texts: Sequence[str],
    unit: str = DEFAULT_UNIT,
    stop_words: Collection[str] = STOP_WORDS,
    stem: str | None = None,
) -> list[tuple[str, ...]]:
    """Split texts into the units that BM25 and TF-IDF count, in lower case and without stop words.

    Texts are brought into one form first (Unicode's NFKC: full-width ＡＢＣ become ABC). Where a text has spaces,
    a unit is a word: a run of letters and digits. Chinese, which has none, is split by

    - ``"words-no-hmm"``, the default: jieba, by its dictionary alone;
    - ``"words"``: jieba, which guesses at words its dictionary lacks by a hidden Markov model (HMM);
    - ``"words-search"``: jieba's mode for search engines, which gives the short words inside a long one too;
    - ``"characters"``: each character;
    - ``"bigrams"``: each two neighbouring characters, as Lucene's CJK analyzer does.

    With ``stem`` a word becomes its stem after the stop words are gone, by Snowball's rules for that language
    (``"english"``, ``"german"``) or Porter's (``"porter"``, 1980, the default of Lucene's English analyzer); Chinese
    does not change.

    Raises:
        ValueError: an unknown unit, a language that Snowball does not know.
    """
    if unit not in UNITS:
        raise ValueError(f"Unknown unit {unit!r}: expected one of {', '.join(UNITS)}.")
    units = [tuple(word for word in _units(text, unit) if word not in stop_words) for text in texts]
    return units if stem is None else [tuple(_stem(word, stem) for word in words) for words in units]


@lru_cache(maxsize=1 << 17)
def _stem(word: str, language: str) -> str:
    stem: str = _stemmer(language).stemWord(word)
    return stem


@lru_cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    if language not in (known := snowballstemmer.algorithms()):
        raise ValueError(f"stem={language!r}: expected one of {', '.join(known)}.")
    return snowballstemmer.stemmer(language)


@lru_cache(maxsize=1 << 14)  # one collection is split for TF-IDF and again for BM25
def _units(text: str, unit: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in UNITS[unit](text) if word.isalnum())


def _normalized(text: str, cut: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the words of a text in NFKC; runs with Chinese are cut further."""
    text = unicodedata.normalize("NFKC", FRACTION.sub(r" \g<0>", text))
    for run in re.findall(r"[^\W_]+", text):
        yield from cut(run) if HAN.search(run) else [run]


def _han_apart(run: str, cut: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Cut the Chinese in a run of letters; yield the rest unchanged."""
    end = 0
    for match in HAN.finditer(run):
        yield run[end : match.start()]
        yield from cut(match[0])
        end = match.end()
    yield run[end:]


def _pairs(characters: str) -> list[str]:
    """Return every two neighbours; a single character by itself."""
    return [characters[at : at + 2] for at in range(max(1, len(characters) - 1))]


def _jieba(text: str, mode: str = "lcut", **options: bool) -> list[str]:
    import jieba

    jieba.setLogLevel(logging.ERROR)
    words: list[str] = getattr(jieba, mode)(text, **options)
    return words


UNITS: dict[str, Callable[[str], Iterable[str]]] = {
    "words": partial(_normalized, cut=_jieba),
    "words-no-hmm": partial(_normalized, cut=partial(_jieba, HMM=False)),
    "words-search": partial(_normalized, cut=partial(_jieba, mode="lcut_for_search")),
    "characters": partial(_normalized, cut=partial(_han_apart, cut=list)),
    "bigrams": partial(_normalized, cut=partial(_han_apart, cut=_pairs)),
}


class BM25Index:
    """BM25 (Robertson and Zaragoza 2009), computed by ``bm25s``.

    The variant is Lucene's: the inverse document frequency is never negative.

    Args:
        corpus: n passages.
        unit, stop_words, stem: as for :func:`tokenize`.
        k1: how slowly further occurrences of a word add less; 0 counts a word once.
        b: how far a passage's length is held against it: 0 not at all, 1 in full.

    Raises:
        ValueError: an unknown unit, k1 or b out of range, passages that have no unit at all.
    """

    def __init__(
        self,
        corpus: Sequence[str],
        unit: str = DEFAULT_UNIT,
        *,
        k1: float = 1.5,
        b: float = 0.75,
        stop_words: Collection[str] = STOP_WORDS,
        stem: str | None = None,
    ) -> None:
        """Count the words of n passages."""
        import bm25s

        check_words("BM25", [unit], {"k1": k1, "b": b})
        self.ntotal = len(corpus)
        self._split = partial(tokenize, unit=unit, stop_words=stop_words, stem=stem)
        self._retriever: Any = bm25s.BM25(method="lucene", k1=k1, b=b)
        self._retriever.index(_counted(corpus, self._split), show_progress=False)

    def search(self, queries: Sequence[str], k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query that share a word with it; -1 fills the rest."""
        known = self._retriever.vocab_dict
        scores, ids = np.zeros((len(queries), k), np.float32), np.full((len(queries), k), PADDING, np.int64)
        for row, words in enumerate(_split_queries(queries, self._split)):
            if known_words := [word for word in words if word in known]:
                scores[row], ids[row] = matches(self._retriever.get_scores(known_words)[None], k)
        return scores, ids


class TfidfIndex:
    """TF-IDF vectors compared by their cosine, computed by scikit-learn with sublinear term frequency.

    Args:
        corpus: n passages.
        unit, stem: as for :func:`tokenize`.

    Raises:
        ValueError: an unknown unit, passages that have no unit at all.
    """

    def __init__(self, corpus: Sequence[str], unit: str = DEFAULT_UNIT, *, stem: str | None = None) -> None:
        """Count the words of n passages."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.ntotal = len(corpus)
        self._split = partial(tokenize, unit=unit, stem=stem)
        self._vectorizer: Any = TfidfVectorizer(analyzer=lambda words: words, sublinear_tf=True)
        self._passages: Any = self._vectorizer.fit_transform(_counted(corpus, self._split))

    def search(self, queries: Sequence[str], k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query that share a word with it; -1 fills the rest."""
        vectors = self._vectorizer.transform(_split_queries(queries, self._split))
        return SparseIndex(self._passages).search(vectors, k)


class SparseIndex:
    """Sparse vectors compared by their inner product.

    Args:
        passages: scipy's sparse matrix (n, words).
    """

    def __init__(self, passages: "csr_matrix") -> None:
        """Keep the vectors."""
        self.passages = passages
        self.ntotal = passages.shape[0]

    def search(self, queries: "csr_matrix", k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query that share a word with it; -1 fills the rest."""
        count = queries.shape[0]
        scores, ids = np.zeros((count, k), np.float32), np.full((count, k), PADDING, np.int64)
        step = max(1, PRODUCTS_AT_ONCE // self.ntotal)
        for first in range(0, count, step):
            rows = slice(first, first + step)
            products = (queries[rows] @ self.passages.T).toarray()
            scores[rows], ids[rows] = matches(products.astype(np.float32), k)
        return scores, ids


KINDS: dict[str, Callable[..., BM25Index | TfidfIndex]] = {"BM25": BM25Index, "TF-IDF": TfidfIndex}
WORD_INDEXES = KINDS | {f"{kind}:{unit}": partial(make, unit=unit) for kind, make in KINDS.items() for unit in UNITS}


def read_words(kind: str, settings: str) -> tuple[list[str], dict[str, Any]]:
    """Read the settings of an index of words: ``"characters,k1=0.9,b=0.4"``, ``"stem=english"``.

    Returns:
        The unit that it counts, none for the default; and the other settings by name.

    Raises:
        ValueError: as :func:`check_words`, or a number that is none.
    """
    units, values = parse_settings(settings)
    check_words(kind, units, values)
    return units, values


def check_words(kind: str, units: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Raise unless an index of words can be built with these settings.

    Args:
        kind: "BM25" or "TF-IDF".
        units: the unit that it counts, one name at most, see :func:`tokenize`.
        settings: stem, and of BM25 k1 and b.

    Raises:
        ValueError: an unknown or a second unit, an unknown setting or language, k1 or b out of range.
    """
    if unknown := [unit for unit in units if unit not in UNITS] or list(units[1:]):
        raise ValueError(f"{kind}: unknown unit {unknown[0]!r}; expected one of {', '.join(UNITS)}.")
    known = ("k1", "b", "stem") if kind == "BM25" else ("stem",)
    if others := sorted(settings.keys() - set(known)):
        raise ValueError(f"{kind} has no setting {others[0]!r}; it has {', '.join(known)}.")
    k1, b = settings.get("k1", 1.5), settings.get("b", 0.75)
    if not (0 <= k1 < float("inf") and 0 <= b <= 1):
        raise ValueError(f"k1={k1!r}, b={b!r}: expected k1 of at least 0, and b from 0 to 1.")
    if settings.get("stem"):
        _stemmer(settings["stem"])


def matches(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Take the k best of each row of scores, (q, n); a passage that shares no word with the query, score 0, is padding.

    Returns:
        scores: the best first, (q, k).
        ids: row numbers of the passages, int64 (q, k), -1 for padding.
    """
    size = len(scores), min(k, scores.shape[1])
    best, ids = np.zeros(size, scores.dtype), np.full(size, PADDING, np.int64)
    for row, values in enumerate(scores):
        matching = np.flatnonzero(values > 0)
        first = matching[np.argsort(-values[matching], kind="stable")[:k]]
        best[row, : len(first)], ids[row, : len(first)] = values[first], first
    return best, ids


def _counted(corpus: Sequence[str], split: Callable[[Sequence[str]], list[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    units = split(corpus)
    if not any(units):
        raise ValueError(f"The {len(corpus)} passages have no word to count: only signs, spaces and stop words.")
    return units


def _split_queries(
    queries: Sequence[str], split: Callable[[Sequence[str]], list[tuple[str, ...]]]
) -> list[tuple[str, ...]]:
    """Split queries, and warn of those without a word."""
    units = split(queries)
    empty = [query for query, words in zip(queries, units, strict=True) if not words]
    if empty:
        text = (
            f"{len(empty)} of {len(queries)} queries, the first {empty[0]!r}, have no word to search for: only signs, "
            "spaces and stop words. They retrieve nothing."
        )
        note = Note(text, "no_words", count=len(empty), of=len(queries), first=empty[0])
        warnings.warn(note, stacklevel=2)
    return units
