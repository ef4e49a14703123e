"""Indexing and searching: exact order, also among equals, and nothing silently short."""

from itertools import pairwise

import faiss
import numpy as np
import pytest

from helpers.index import build_index, dense, load_index, reserve, search
from helpers.index.order import merge


@pytest.fixture
def vectors() -> np.ndarray:
    """Give 300 vectors of small whole numbers: many equal inner products."""
    return np.random.default_rng(1).integers(-1, 2, (300, 6)).astype(np.float32)


@pytest.fixture
def queries() -> np.ndarray:
    """Give 50 queries of the same kind."""
    return np.random.default_rng(2).integers(-1, 2, (50, 6)).astype(np.float32)


@pytest.mark.parametrize("k", [1, 7, 299, 300])
def test_search_is_exact_with_ties_by_ascending_id(vectors, queries, k):
    """FAISS lists equal scores in descending id order and cuts a tie at k as it likes."""
    scores, ids = search(build_index(vectors), queries, k=k)
    exact = queries @ vectors.T
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :k]
    assert np.array_equal(ids, expected)
    assert np.array_equal(scores, np.take_along_axis(exact, expected, axis=1))
    assert (scores.dtype, ids.dtype) == (np.float32, np.int64)


def test_equal_passages_everywhere_end_the_search_for_the_tie():
    """A corpus of equal vectors ties every place with every other, beyond any depth."""
    scores, ids = search(build_index(np.ones((100, 4), np.float32)), np.ones((3, 4), np.float32), k=5)
    assert ids.tolist() == [[0, 1, 2, 3, 4]] * 3
    assert (scores == 4).all()


@pytest.mark.parametrize("batch_size", [1, 7, 256])
def test_batches_do_not_change_the_result(vectors, queries, batch_size):
    """A query's ranking must not depend on who else is searched for."""
    index = build_index(vectors)
    assert np.array_equal(search(index, queries, 10, batch_size=batch_size)[1], search(index, queries, 10)[1])


def test_shards_build_the_same_index(vectors, queries):
    """A corpus too large for memory comes in shards."""
    whole = search(build_index(vectors), queries, 10)[1]
    assert np.array_equal(search(build_index(np.array_split(vectors, 7)), queries, 10)[1], whole)


@pytest.mark.parametrize("factory", ["IVF4,Flat", "HNSW16"])
def test_other_factory_strings_find_most_of_the_same(factory):
    """The lesson's one line must serve the approximate indexes too, ranking by inner product."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(400, 16)).astype(np.float32)
    exact = search(build_index(vectors), vectors[:50], 10)[1]
    index = build_index(vectors, factory)
    assert index.metric_type == faiss.METRIC_INNER_PRODUCT
    if isinstance(index, faiss.IndexIVF):
        index.nprobe = 3
    found = search(index, vectors[:50], 10)[1]
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, found, strict=True)]) > 0.7


@pytest.mark.parametrize("k", [0, -1, 301, 2.0, True])
def test_k_out_of_range_is_refused(vectors, queries, k):
    """FAISS pads a k beyond the corpus with -1, which numpy takes for the last passage."""
    with pytest.raises(ValueError, match="whole number from 1 to 300"):
        search(build_index(vectors), queries, k=k)


def test_approximate_index_that_finds_too_few_says_so(vectors):
    """One cell of an inverted file may hold fewer than k passages; -1 must not reach the metrics."""
    index = build_index(vectors, "IVF64,Flat")
    short = sum(-1 in row for row in index.search(vectors[:50], 101)[1][:, :5].tolist())
    assert 1 < short < 50
    with pytest.raises(ValueError, match=r"fewer than k=100 passages for 50 of 50 queries; raise its nprobe"):
        search(index, vectors[:50], k=100)
    with pytest.raises(ValueError, match=rf"fewer than k=5 passages for {short} of 50 queries"):
        search(index, vectors[:50], k=5)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (np.ones((2, 5), np.float32), "queries have 5 dimensions, the index 6"),
        (np.ones(6, np.float32), r"expected a float array \(n, dim\)"),
        (np.ones((2, 6), np.int64), "got int64"),
        (np.ones((0, 6), np.float32), "no rows"),
        (np.array([[1.0] * 6, [np.nan] * 6]), "row 1 holds NaN"),
        (np.array([[np.inf] * 6]), "row 0 holds NaN or infinite"),
    ],
)
def test_queries_that_cannot_be_searched_are_refused(vectors, broken, message):
    """Each of these gives some ranking in FAISS, or a crash."""
    with pytest.raises(ValueError, match=message):
        search(build_index(vectors), broken)


@pytest.mark.parametrize("factory", ["Flat", "Blocks", "Binary"])
def test_embeddings_of_every_kind_of_index_are_checked(factory):
    """Each of these gives an index that ranks at random, a score of NaN, or a C++ stack."""
    vectors = np.ones((20, 8), np.float32)
    with pytest.raises(ValueError, match="queries: row 0 holds NaN"):
        search(build_index(vectors, factory), np.full((1, 8), np.nan, np.float32), 1)
    with pytest.raises(ValueError, match="No embeddings"):
        build_index([], factory)
    vectors[17, 3] = np.nan
    with pytest.raises(ValueError, match="embeddings: row 17 holds NaN"):
        search(build_index(vectors, factory), np.ones((1, 8), np.float32), 1)


@pytest.mark.parametrize("factory", ["Flat", "Blocks"])
def test_shards_of_other_dimensions_are_refused(vectors, queries, factory):
    """They would be read across one another."""
    with pytest.raises(ValueError, match="embeddings have 5 dimensions, the index 6"):
        search(build_index([vectors, vectors[:, :5]], factory), queries, 1)


@pytest.mark.parametrize(
    ("factory", "message"), [("Flot", "no index 'Flot'"), ("IVF512,Flat", "cannot be trained on 300 vectors")]
)
def test_an_index_that_cannot_be_built_is_refused(vectors, factory, message):
    """FAISS's own message is a C++ stack."""
    with pytest.raises(ValueError, match=message):
        build_index(vectors, factory)


def test_room_for_all_vectors_is_made_once(vectors):
    """A large flat index would be copied as it grows: twice the memory of its vectors at the worst."""
    index = build_index(vectors)
    whole = faiss.IndexFlatIP(6)
    reserve(whole, len(vectors))
    place = int(whole.codes.data())
    for start in range(0, len(vectors), 7):
        whole.add(vectors[start : start + 7])
    assert int(whole.codes.data()) == place
    assert np.array_equal(whole.reconstruct_n(0, 300), index.reconstruct_n(0, 300))
    reserve(whole, 10)
    assert whole.ntotal == 300
    assert whole.codes.size() == 300 * 6 * 4


class _LatestFirst:
    """An index that gives equal scores from the highest id down, as some do."""

    ntotal = 5
    scores = np.array([0.9, 0.5, 0.5, 0.5, 0.5], np.float32)

    def search(self, queries, k):
        """Return the k best for each query."""
        ids = np.lexsort((-np.arange(5), -self.scores))[:k]
        return np.tile(self.scores[ids], (len(queries), 1)), np.tile(ids, (len(queries), 1))


def test_a_tie_behind_the_last_place_is_settled():
    """Which of four equal passages takes the last place would depend on the kind of index."""
    _, ids = dense.search_batch(_LatestFirst(), np.ones((2, 3), np.float32), 2)
    assert ids.tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("k", [1, 10, 300])
def test_merged_results_of_parts_are_those_of_the_whole(vectors, queries, k):
    """A passage at the edge of a part would be lost, or equal scores come in the order of the parts."""
    parts = []
    for first, end in pairwise([0, 7, 8, 150, 300]):
        scores, ids = search(build_index(vectors[first:end]), queries, min(k, end - first))
        parts.append((scores, ids + first))
    expected = search(build_index(vectors), queries, k)
    for order in (parts, parts[::-1]):
        found = merge(order, k)
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])


def test_padding_stays_last():
    """Padding of a part, -1, would push out passages of the others."""
    one = np.array([[0.5, 0.0]], np.float32), np.array([[1, -1]])
    two = np.array([[-0.5, -1.0]], np.float32), np.array([[3, 2]])
    assert merge([one, two], 4)[1].tolist() == [[1, 3, 2, -1]]


@pytest.mark.parametrize(
    ("queries", "vectors", "multiplied"), [(19, 1 << 24, False), (20, 1 << 24, True), (20, 9, False)]
)
def test_few_queries_are_not_searched_by_a_product_of_matrices(queries: int, vectors: int, multiplied: bool):
    """A single query of a large index would take four times as long, and a benchmark call exact search that slow."""
    before = faiss.cvar.distance_compute_blas_threshold
    with dense.by_blas(queries, vectors):
        assert (faiss.cvar.distance_compute_blas_threshold != before) == multiplied
    assert faiss.cvar.distance_compute_blas_threshold == before


def _l2_indexes() -> dict[str, object]:
    """Indexes of every nesting that rank by Euclidean distance, by the kind."""
    factories = ["Flat", "IVF4,Flat", "HNSW64", "PCA8,Flat", "IDMap,Flat", "IVF4,SQ8", "SQ8,RFlat", "IDMap2,HNSW64"]
    return {factory: faiss.index_factory(16, factory) for factory in factories}  # its default metric is L2


@pytest.mark.parametrize("factory", _l2_indexes())
def test_an_index_of_distances_gives_the_nearest_first(factory):
    """The farthest of the k + 1 nearest would come first, and the nearest not at all: recall 0 of a perfect model."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(400, 16)).astype(np.float32) * rng.uniform(1, 3, (400, 1)).astype(np.float32)
    index = _l2_indexes()[factory]
    index.train(vectors)
    index.add_with_ids(vectors, np.arange(400)) if "IDMap" in factory else index.add(vectors)
    faiss.ParameterSpace().set_index_parameters(index, "nprobe=4" * ("IVF" in factory))
    scores, ids = search(index, vectors, k=5)
    assert np.mean(ids[:, 0] == np.arange(400)) > 0.95
    assert (np.diff(scores) <= 0).all()
    if factory == "Flat":
        distances = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
        assert np.array_equal(ids, np.argsort(distances, axis=1, kind="stable")[:, :5])


def test_an_index_of_another_metric_is_refused(vectors, tmp_path):
    """City-block distances, or a re-ranking by another metric than the search's, would be ranked upside down."""
    index = faiss.IndexFlat(6, faiss.METRIC_L1)
    index.add(vectors)
    faiss.write_index(index, str(tmp_path / "index"))
    for reading in (lambda: search(index, vectors, k=5), lambda: load_index(tmp_path / "index")):
        with pytest.raises(ValueError, match="IndexFlat ranks by METRIC_L1; here an index ranks by METRIC_INNER_PROD"):
            reading()
    with pytest.raises(ValueError, match="is not there, cut short, or no FAISS index"):
        load_index(tmp_path / "none")
    mixed = faiss.IndexHNSW(faiss.IndexFlatL2(6), 8)
    mixed.metric_type = faiss.METRIC_INNER_PRODUCT
    with pytest.raises(ValueError, match="ranks by METRIC_INNER_PRODUCT and METRIC_L2"):
        dense.score_sign(mixed)


@pytest.mark.parametrize("factory", ["IDMap,Flat", "IDMap2,Flat"])
def test_ids_of_the_reader_s_own_are_refused_in_one_line(vectors, queries, factory):
    """FAISS's message has the paths of its sources; without IDMap, as ours says, the index is built."""
    with pytest.raises(ValueError, match="its row, so leave IDMap out") as caught:
        build_index(vectors, factory)
    assert "\n" not in str(caught.value)
    assert search(build_index(vectors, factory.partition(",")[2]), queries, 1)[1].shape == (50, 1)
