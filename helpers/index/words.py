"""Word-matching baselines, BM25 and TF-IDF, which an embedding model has to beat."""

import logging
import math
import re
import unicodedata
import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers import _scripts as scripts
from helpers._optional import Note
from helpers.index.order import best_first, parse_settings

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix

PADDING = -1

ENGLISH = """a an and are as at be but by can do does for from how if in into is it its my no not of on or so than
that the their there these they this to was what when where which who why will with you your"""
CHINESE = "的 了 是 在 和 有 吗 呢 什么 怎么 为什么 怎样 如何 哪些 哪个 多少 会 能 与 及 也 就 都 而"
STOP_WORDS = frozenset(f"{ENGLISH} {CHINESE}".split())
HAN = re.compile(f"[{scripts.HAN}]+")
UNSPACED = re.compile(f"[{scripts.UNSPACED}]")
IGNORED = re.compile(f"[{scripts.IGNORED}]")
ASCII_WORD = re.compile("[a-z0-9]+")  # of lowered text: what all units find in it
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
    a unit is a word: a run of letters and digits with their marks, such as the vowel signs of Hindi. Chinese, which has
    none, is split by

    - ``"words-no-hmm"``, the default: jieba, by its dictionary alone;
    - ``"words"``: jieba, which guesses at words its dictionary lacks by a hidden Markov model (HMM);
    - ``"words-search"``: jieba's mode for search engines, which gives the short words inside a long one too;
    - ``"characters"``: each character;
    - ``"bigrams"``: each two neighbouring characters, as Lucene's CJK analyzer does.

    Other scripts without spaces (Thai, Lao, Khmer, Myanmar, the Japanese kana) have no segmenter here: they are split
    into bigrams, under ``"characters"`` into characters, and an index of such passages warns of it.

    With ``stem`` a word becomes its stem after the stop words are gone, by Snowball's rules for that language
    (``"english"``, ``"german"``) or Porter's (``"porter"``, 1980, the default of Lucene's English analyzer); Chinese
    does not change.
    """
    if unit not in UNITS:
        raise ValueError(f"Unknown unit {unit!r}: expected one of {', '.join(UNITS)}.")
    return [tuple(_split(text, unit, stop_words, stem)) for text in texts]


def _split(text: str, unit: str, stop_words: Collection[str], stem: str | None) -> list[str]:
    units = ASCII_WORD.findall(text.lower()) if text.isascii() else _units(text, unit)
    kept = [word for word in units if word not in stop_words]
    return kept if stem is None else [_stem(word, stem) for word in kept]


@lru_cache(maxsize=1 << 17)
def _stem(word: str, language: str) -> str:
    return str(_stemmer(language).stemWord(word))


@lru_cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    if language not in (known := snowballstemmer.algorithms()):
        raise ValueError(f"stem={language!r}: expected one of {', '.join(known)}.")
    return snowballstemmer.stemmer(language)


@lru_cache(maxsize=1 << 14)  # one collection is split for TF-IDF and again for BM25
def _units(text: str, unit: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in UNITS[unit](text) if word[:1].isalnum())


def _normalized(
    text: str, cut: Callable[[str], Iterable[str]], apart: Callable[[Sequence[str]], Iterable[str]] | None = None
) -> Iterator[str]:
    """Yield the words of a text in NFKC; runs with Chinese are cut further, other scripts without spaces set apart."""
    text = IGNORED.sub("", unicodedata.normalize("NFKC", FRACTION.sub(r" \g<0>", text)))
    for run in scripts.word().findall(text):
        for piece in _script_pieces().findall(run) if UNSPACED.search(run) else [run]:
            if UNSPACED.match(piece):
                yield from (apart or _pairs)(_characters().findall(piece))
            else:
                yield from cut(piece) if HAN.search(piece) else [piece]


@cache
def _script_pieces() -> re.Pattern[str]:
    """Return a pattern of pieces with scripts that have no spaces and no segmenter here, and of pieces without them."""
    return re.compile(rf"[{scripts.UNSPACED}](?:[{scripts.UNSPACED}{scripts.marks()}])*|[^{scripts.UNSPACED}]+")


@cache
def _characters() -> re.Pattern[str]:
    """Return a pattern of single letters and numbers with their marks."""
    return re.compile(rf"[^\W_][{scripts.marks()}]*")


def _han_apart(run: str, cut: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Cut the Chinese in a run of letters; yield the rest unchanged."""
    end = 0
    for match in HAN.finditer(run):
        yield run[end : match.start()]
        yield from cut(match[0])
        end = match.end()
    yield run[end:]


def _pairs(characters: Sequence[str]) -> list[str]:
    return ["".join(characters[at : at + 2]) for at in range(max(1, len(characters) - 1))]


def _jieba(text: str, mode: str = "lcut", **options: bool) -> list[str]:
    import jieba

    jieba.setLogLevel(logging.ERROR)
    words: list[str] = getattr(jieba, mode)(text, **options)
    return words


UNITS: dict[str, Callable[[str], Iterable[str]]] = {
    "words": partial(_normalized, cut=_jieba),
    "words-no-hmm": partial(_normalized, cut=partial(_jieba, HMM=False)),
    "words-search": partial(_normalized, cut=partial(_jieba, mode="lcut_for_search")),
    "characters": partial(_normalized, cut=partial(_han_apart, cut=list), apart=list),
    "bigrams": partial(_normalized, cut=partial(_han_apart, cut=_pairs)),
}


class SparseIndex:
    """Sparse vectors, a matrix of scipy (n, words), compared by their inner product."""

    def __init__(self, passages: "csr_matrix | csc_matrix") -> None:
        """Keep the vectors by word, so that a search reads the words of its query alone."""
        self.ntotal = passages.shape[0]
        self._by_word: csc_matrix = passages.tocsc()
        self._by_word.sum_duplicates()

    def search(self, queries: "csr_matrix", k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query that share a word with it; -1 fills the rest."""
        size, columns = (queries.shape[0], k), self._by_word
        scores, ids = np.zeros(size, np.float32), np.full(size, PADDING, np.int64)
        for row, (first, end) in enumerate(pairwise(queries.indptr.tolist())):
            sums = np.zeros(self.ntotal, np.result_type(queries.dtype, columns.dtype))
            for word, weight in zip(queries.indices[first:end], queries.data[first:end], strict=True):
                entries = slice(columns.indptr[word], columns.indptr[word + 1])
                np.add.at(sums, columns.indices[entries], weight * columns.data[entries])
            scores[row], ids[row] = matches(sums.astype(np.float32)[None], k)
        return scores, ids


class BM25Index:
    """BM25 (Robertson and Zaragoza 2009), in the variant of Lucene: the inverse document frequency is never negative.

    A word that occurs t times in a passage of l words adds idf · t / (t + k1 · (1 - b + b · l / mean l)), where
    idf = ln(1 + (n - d + 0.5) / (d + 0.5)) if d of the n passages have it; the scores are those of ``bm25s``. ``k1`` is
    how slowly further occurrences of a word add less, 0 counts it once; ``b`` is how far a passage's length is held
    against it: 0 not at all, 1 in full. The others are as for :func:`tokenize`.
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
        self.ntotal = len(corpus)
        self._split = _splitter("BM25", corpus, unit, stop_words, k1=k1, b=b, stem=stem)
        vocabulary: dict[str, int] = defaultdict(count().__next__)  # a new word gets the next number
        counts = _counts(map(self._split, corpus), vocabulary)
        self._vocabulary = dict(vocabulary)
        self._index = SparseIndex(_weights(counts, k1, b))

    def search(self, queries: Sequence[str], k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query that share a word with it; -1 fills the rest."""
        split = _split_queries(queries, self._split)
        known = [[word for word in words if word in self._vocabulary] for words in split]
        return self._index.search(_counts(known, self._vocabulary), k)


class TfidfIndex:
    """TF-IDF vectors compared by their cosine, computed by scikit-learn with sublinear term frequency."""

    def __init__(self, corpus: Sequence[str], unit: str = DEFAULT_UNIT, *, stem: str | None = None) -> None:
        """Count the words of n passages."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.ntotal = len(corpus)
        self._split = _splitter("TF-IDF", corpus, unit, stem=stem)
        self._vectorizer: Any = TfidfVectorizer(analyzer=self._split, sublinear_tf=True)
        self._index = SparseIndex(self._vectorizer.fit_transform(corpus))

    def search(self, queries: Sequence[str], k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query that share a word with it; -1 fills the rest."""
        _split_queries(queries, self._split)
        return self._index.search(self._vectorizer.transform(queries), k)


KINDS: dict[str, Callable[..., BM25Index | TfidfIndex]] = {"BM25": BM25Index, "TF-IDF": TfidfIndex}
WORD_INDEXES = KINDS | {f"{kind}:{unit}": partial(make, unit=unit) for kind, make in KINDS.items() for unit in UNITS}


def read_words(kind: str, settings: str) -> tuple[list[str], dict[str, Any]]:
    """Read the settings of an index of words, ``"characters,k1=0.9"``: its unit, and the others by name."""
    units, values = parse_settings(settings)
    check_words(kind, units, values)
    return units, values


def check_words(kind: str, units: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Raise ValueError unless an index of words, "BM25" or "TF-IDF", has these units, one at most, and settings."""
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
    """Take the k best of each row of scores (q, n): scores and ids, (q, k) each; -1 where no word is shared."""
    size = len(scores), min(k, scores.shape[1])
    best, ids = np.zeros(size, scores.dtype), np.full(size, PADDING, np.int64)
    for row, values in enumerate(scores):
        matching = np.flatnonzero(values > 0)
        first = matching[best_first(values[matching], k)]
        best[row, : len(first)], ids[row, : len(first)] = values[first], first
    return best, ids


def _counts(texts: Iterable[Sequence[str]], vocabulary: Mapping[str, int]) -> "csr_matrix":
    """Return the words of n texts as float32 (n, words): a 1 for each, in the order of the text."""
    from scipy.sparse import csr_matrix

    numbers, ends = array("i"), [0]
    for words in texts:
        numbers.extend(map(vocabulary.__getitem__, words))
        ends.append(len(numbers))
    return csr_matrix((np.ones(len(numbers), np.float32), np.asarray(numbers), ends), (len(ends) - 1, len(vocabulary)))


def _weights(counts: "csr_matrix", k1: float, b: float) -> "csc_matrix":
    """Return what each word adds to the score of each passage by BM25, float32 (n, words), from `_counts`."""
    passages, lengths = counts.shape[0], np.diff(counts.indptr)
    weights = counts.tocsc()
    weights.sum_duplicates()
    found_in = np.diff(weights.indptr)
    idf = [math.log(1 + (passages - d + 0.5) / (d + 0.5)) for d in found_in.tolist()]
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    share = weights.data / (norm[weights.indices] + weights.data)
    weights.data = (np.repeat(np.array(idf, np.float32), found_in) * share).astype(np.float32)
    return weights


def _splitter(
    kind: str, corpus: Sequence[str], unit: str, stop_words: Collection[str] = STOP_WORDS, **settings: Any
) -> Callable[[str], list[str]]:
    """Return what splits a text into words; raise if the passages have none to count, warn of words not known here."""
    check_words(kind, [unit], settings)
    split = partial(_split, unit=unit, stop_words=stop_words, stem=settings["stem"])
    if not any(map(split, corpus)):
        raise ValueError(f"The {len(corpus)} passages have no word to count: only signs, spaces and stop words.")
    if unsegmented := sum(not text.isascii() and UNSPACED.search(text) is not None for text in corpus):
        text = (
            "{count} of {of} passages have letters of a script without spaces that is not split into "
            "words here (Thai, Lao, Khmer, Myanmar, Japanese kana): bigrams of characters are counted in their place."
        )
        warnings.warn(Note(text, count=unsegmented, of=len(corpus)), stacklevel=2)
    return split


def _split_queries(queries: Sequence[str], split: Callable[[str], list[str]]) -> list[list[str]]:
    units = [split(query) for query in queries]
    empty = [query for query, words in zip(queries, units, strict=True) if not words]
    if empty:
        text = (
            "{count} of {of} queries, the first {first!r}, have no word to search for: only signs, "
            "spaces and stop words. They retrieve nothing."
        )
        warnings.warn(Note(text, count=len(empty), of=len(queries), first=empty[0]), stacklevel=2)
    return units
