"""BM25 and TF-IDF: what they count, in which language, and what they refuse."""

import tracemalloc
from collections.abc import Callable

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from helpers.data import load_dataset
from helpers.index import BM25Index, build_index, search, tokenize
from helpers.index.order import best_first
from helpers.index.words import STOP_WORDS, UNITS, WORD_INDEXES, matches
from tests.growth import assert_linear, work


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("words", ["南京市", "长江大桥", "36", "号牙", "t恤", "x2"]),
        ("words-no-hmm", ["南京市", "长江大桥", "36", "号", "牙", "t恤", "x2"]),
        ("words-search", ["南京", "京市", "南京市", "长江", "大桥", "长江大桥", "36", "号牙", "t恤", "x2"]),
        ("characters", [*"南京市长江大桥", "36", *"号牙", "t", "恤", "x2"]),
        ("bigrams", ["南京", "京市", "市长", "长江", "江大", "大桥", "36", "号牙", "牙的", "t", "恤", "x2"]),
    ],
)
def test_chinese_is_split_into_the_units_asked_for(unit, expected):
    """Another unit than the one named would be compared, and latin letters and numbers torn apart."""
    assert tokenize(["南京市长江大桥，36号牙的T恤 x2"], unit) == [tuple(expected)]


@pytest.mark.parametrize("unit", UNITS)
def test_what_is_typed_in_another_form_is_the_same(unit):
    """A query typed full-width, in capitals or with a ligature would find nothing."""
    for text in ("Windows 11 的 ABC① ﬁsh 40％", "ＷＩＮＤＯＷＳ　１１ 的 ａｂｃ1 fish 40%"):
        assert tokenize([text], unit) == [("windows", "11", "abc1", "fish", "40")]
    assert tokenize(["a 8½-inch pipe"], unit) == [("8", "1", "2", "inch", "pipe")]
    assert tokenize(["How do Birds, of all sizes, fly?"], unit) == [("birds", "all", "sizes", "fly")]


@pytest.mark.parametrize("name", WORD_INDEXES)
def test_every_kind_ranks_a_mixed_corpus(name):
    """Names of kinds are what the lessons and the report show; one that fails to load shows nothing."""
    corpus = ["鲸鱼在海里游", "a whale swims in the sea", "the cat sleeps", "猫在睡觉"]
    scores, ids = search(build_index(corpus, name), ["whale 鲸鱼", "睡觉"], k=2)
    assert set(ids[0]) == {0, 1}
    assert ids[1].tolist() == [3, -1]
    assert (scores[:, 0] > 0).all()


@pytest.mark.parametrize("kind", ["BM25", "TF-IDF"])
def test_words_are_stemmed_in_the_language_named(kind: str):
    """BM25 of another tool stems by default, and a comparison with it would blame the model."""
    corpus = ["the rivers flooded", "a river floods", "die Häuser", "长江的河流"]
    plain = search(build_index(corpus, kind), ["flooding rivers"], 4)[1][0]
    stemmed = search(build_index(corpus, f"{kind}:stem=english"), ["flooding rivers"], 4)[1][0]
    assert (set(plain.tolist()), set(stemmed.tolist())) == ({0, -1}, {0, 1, -1})
    assert search(build_index(corpus, f"{kind}:stem=german"), ["Haus"], 1)[1].tolist() == [[2]]
    assert search(build_index(corpus, f"{kind}:characters,stem=english"), ["河"], 1)[1].tolist() == [[3]]
    assert tokenize(["generously"], stem="porter") == [("gener",)]


def test_stop_words_are_the_readers_choice():
    """Another language has others; a query without a word is told, as its empty row counts as a failure of BM25."""
    index = build_index(["to be or not to be", "the sea"], "BM25")
    with pytest.warns(UserWarning, match="1 of 2 queries, the first 'to be', have no word to search for"):
        assert search(index, ["to be", "sea"], 1)[1].tolist() == [[-1], [1]]
    assert search(BM25Index(["to be or not to be", "the sea"], stop_words=()), ["to be"], 1)[1].tolist() == [[0]]
    assert tokenize(["the sea"], "words", stop_words={"sea"}) == [("the",)]
    assert "the" in STOP_WORDS


def test_tfidf_is_scikit_learns():
    """Its cosine is over the same units, weighted as scikit-learn documents."""
    corpus, query = ["长江大桥很长", "大桥", "长江的水"], "长江大桥"
    scores, ids = search(build_index(corpus, "TF-IDF:characters"), [query], 3)
    vectorizer = TfidfVectorizer(analyzer=lambda text: [c for c in text if c != "的"], sublinear_tf=True)
    expected = (vectorizer.fit_transform(corpus) @ vectorizer.transform([query]).T).toarray().ravel()
    np.testing.assert_allclose(scores[0], expected[ids[0]], rtol=1e-6)
    assert ids[0].tolist() == np.argsort(-expected).tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tokenize(["a"], "syllables"), "Unknown unit 'syllables': expected one of words, words-no-hmm"),
        (lambda: build_index(["cat"], "BM25:syllables"), "BM25: unknown unit 'syllables'; expected one of"),
        (lambda: build_index(["cat"], "BM25:k2=1"), "BM25 has no setting 'k2'; it has k1, b, stem"),
        (lambda: build_index(["cat"], "TF-IDF:b=1"), "TF-IDF has no setting 'b'; it has stem"),
        (lambda: build_index(["cat"], "BM25:b=2"), "b=2.0: expected k1 of at least 0, and b from 0 to 1"),
        (lambda: build_index(["？！", "的", " "], "BM25:words"), "The 3 passages have no word to count"),
        (lambda: BM25Index(["cat"], k1=-1), "k1=-1, b=0.75: expected k1 of at least 0"),
        (lambda: BM25Index(["cat"], b=float("nan")), "b from 0 to 1"),
        (lambda: build_index(["cat"], "BM25:k1=x"), "Setting 'k1=x': expected name=number"),
        (lambda: build_index(["cat"], "BM25:stem=klingon"), "stem='klingon': expected one of .*english"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line(call, message):
    """Each of these gave a stack trace of another library, or an index that finds nothing."""
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["BM25", "TF-IDF"])
def test_the_scores_of_a_few_queries_are_in_memory_at_a_time(name):
    """A thousand queries over 200,000 passages took 3 GB; and blocks that are put together wrongly would show."""
    corpus, queries = ([f"common word{n}" for n in range(size)] for size in (2_000, 300))
    index = build_index(corpus, name)
    search(index, queries[:1], 5)
    tracemalloc.start()
    ids = search(index, queries, 5)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(queries) * len(corpus)  # a quarter of the scores in float32
    assert [ids[n].tolist() for n in (0, 9, 11, 299)] == [[0, 1, 2, 3, 4]] + [[n, 0, 1, 2, 3] for n in (9, 11, 299)]


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (0.0, 1.0)])
@pytest.mark.parametrize("name", ["pocket-en", "pocket-zh"])
def test_bm25_is_that_of_bm25s_to_the_last_bit(name, k1, b):
    """The records of the lessons and published figures are those of this library; a word asked for twice counts so."""
    data = load_dataset(name, max_queries=40)
    queries = [*data.queries, f"{data.queries[0]} {data.queries[0]} {data.queries[1]}"]
    peer = bm25s.BM25(method="lucene", k1=k1, b=b)
    peer.index([list(words) for words in tokenize(data.corpus)], show_progress=False)
    words = [[word for word in words if word in peer.vocab_dict] for words in tokenize(queries)]
    expected = np.stack([peer.get_scores(known) for known in words])
    index = build_index(data.corpus, f"BM25:words-no-hmm,k1={k1},b={b}")  # which is what plain BM25 counts
    scores, ids = search(index, queries, len(data.corpus))
    for found, rows, wanted in zip(scores, ids, expected, strict=True):
        order = np.argsort(-wanted, kind="stable")[: np.count_nonzero(wanted)]
        assert rows[rows >= 0].tolist() == order.tolist()
        assert found[rows >= 0].tobytes() == wanted[order].tobytes()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 30))
def test_the_best_are_those_of_a_whole_sort(scores, k):
    """Equal scores at the border of the k best would be chosen by the machine, and not by row."""
    values = np.array(scores, np.float32)
    assert best_first(values, k).tolist() == np.argsort(-values, kind="stable")[:k].tolist()
    matching = [row for row in np.argsort(-values, kind="stable")[:k].tolist() if scores[row]]
    assert matches(values[None], k)[1][0].tolist() == matching + [-1] * (min(k, len(scores)) - len(matching))


def texts(size: int, words: int = 5) -> list[str]:
    """Passages that share a word with each other, among words of their own."""
    return [" ".join(["common", f"w{n % 9}", *(f"own{n}x{m}" for m in range(words))]) for n in range(size)]


@pytest.mark.parametrize("size", [400, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["BM25", "TF-IDF"])
def test_twice_the_passages_are_twice_the_work(name, size):
    """An index of a million passages would take hours to build or to search."""

    def building(passages: int) -> Callable[[], object]:
        corpus = texts(passages, 2)
        return lambda: build_index(corpus, name)

    def searching(passages: int) -> Callable[[], object]:
        index = building(passages)()
        return lambda: search(index, ["common w1", "w2 w3 own7x0"] * 10, 10)

    assert_linear(building, size)
    assert_linear(searching, size)


@pytest.mark.parametrize("name", ["BM25", "TF-IDF"])
def test_a_search_reads_the_words_of_its_query_alone(name):
    """Each search would turn over the words of all passages, 21 times the work at 400,000 passages."""
    indexes = [build_index(texts(300, words), name) for words in (10, 100)]
    search(indexes[0], ["common w1"], 10)
    few, many = (work(lambda index=index: search(index, ["common w1"], 10)).bytes for index in indexes)
    assert many < 1.2 * few


def test_a_build_keeps_numbers_and_not_texts():
    """The words of 200,000 passages as Python texts took 1.3 GB; here a word is a few numbers."""
    corpus = [" ".join(f"word{(n * m) % 997}" for m in range(100)) for n in range(300)]
    build_index(corpus[:5], "BM25")
    tracemalloc.start()
    build_index(corpus, "BM25")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 100 * len(corpus)
