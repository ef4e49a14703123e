"""Indexing and searching: exact order, also among equals, and nothing silently short."""

from itertools import pairwise

import faiss
import numpy as np
import pytest

from helpers.index import build_index, dense, load_index, search
from helpers.index.order import merge

RNG = np.random.default_rng(1)
VECTORS = RNG.integers(-1, 2, (300, 6)).astype(np.float32)  # small whole numbers: many equal inner products
QUERIES = RNG.integers(-1, 2, (50, 6)).astype(np.float32)


@pytest.mark.parametrize("batch_size", [1, 7, 256])
@pytest.mark.parametrize("k", [1, 7, 299, 300])
def test_search_is_exact_with_ties_by_ascending_id(k, batch_size):
    """FAISS lists equal scores in descending id order and cuts a tie at k as it likes; batches must not count."""
    scores, ids = search(build_index(np.array_split(VECTORS, 7)), QUERIES, k=k, batch_size=batch_size)
    exact = QUERIES @ VECTORS.T
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :k]
    assert np.array_equal(ids, expected)
    assert np.array_equal(scores, np.take_along_axis(exact, expected, axis=1))
    assert (scores.dtype, ids.dtype) == (np.float32, np.int64)


def test_equal_passages_everywhere_end_the_search_for_the_tie():
    """A corpus of equal vectors ties every place with every other, beyond any depth."""
    scores, ids = search(build_index(np.ones((100, 4), np.float32)), np.ones((3, 4), np.float32), k=5)
    assert ids.tolist() == [[0, 1, 2, 3, 4]] * 3
    assert (scores == 4).all()


@pytest.mark.parametrize("k", [0, -1, 301, 2.0, True])
def test_k_out_of_range_is_refused(k):
    """FAISS pads a k beyond the corpus with -1, which numpy takes for the last passage."""
    with pytest.raises(ValueError, match="whole number from 1 to 300"):
        search(build_index(VECTORS), QUERIES, k=k)
    with pytest.raises(ValueError, match="batch_size=0: expected at least 1"):
        search(build_index(VECTORS), QUERIES, batch_size=0)


def test_approximate_index_that_finds_too_few_says_so():
    """One cell of an inverted file may hold fewer than k passages; -1 must not reach the metrics."""
    index = build_index(VECTORS, "IVF64,Flat")
    short = sum(-1 in row for row in index.search(VECTORS[:50], 101)[1][:, :5].tolist())
    assert 1 < short < 50
    with pytest.raises(ValueError, match=rf"fewer than k=5 passages for {short} of 50 queries; raise its nprobe"):
        search(index, VECTORS[:50], k=5)


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
def test_queries_that_cannot_be_searched_are_refused(broken, message):
    """Each of these gives some ranking in FAISS, or a crash."""
    with pytest.raises(ValueError, match=message):
        search(build_index(VECTORS), broken)


@pytest.mark.parametrize("factory", ["Flat", "Blocks", "Binary"])
def test_embeddings_of_every_kind_of_index_are_checked(factory):
    """Each of these gives an index that ranks at random, a score of NaN, or rows read across one another."""
    vectors = np.ones((20, 8), np.float32)
    with pytest.raises(ValueError, match="queries: row 0 holds NaN"):
        search(build_index(vectors, factory), np.full((1, 8), np.nan, np.float32), 1)
    with pytest.raises(ValueError, match="No embeddings"):
        build_index([], factory)
    vectors[17, 3] = np.nan
    with pytest.raises(ValueError, match="embeddings: row 17 holds NaN"):
        search(build_index(vectors, factory), np.ones((1, 8), np.float32), 1)
    with pytest.raises(ValueError, match=r"embeddings have 5 dimensions, the index 8|must match exactly"):
        search(build_index([vectors[:9], vectors[:9, :5]], factory), vectors[:1], 1)


@pytest.mark.parametrize(
    ("factory", "message"), [("Flot", "no index 'Flot'"), ("IVF512,Flat", "cannot be trained on 300 vectors")]
)
def test_an_index_that_cannot_be_built_is_refused(factory, message):
    """FAISS's own message is a C++ stack."""
    with pytest.raises(ValueError, match=message) as caught:
        build_index(VECTORS, factory)
    assert "\n" not in str(caught.value)


def test_room_for_all_vectors_is_made_once():
    """A large flat index would be copied as it grows: twice the memory of its vectors at the worst."""
    whole = faiss.IndexFlatIP(6)
    dense.reserve(whole, len(VECTORS))
    place = int(whole.codes.data())
    for start in range(0, len(VECTORS), 7):
        whole.add(VECTORS[start : start + 7])
    assert int(whole.codes.data()) == place
    assert np.array_equal(whole.reconstruct_n(0, 300), VECTORS)


@pytest.mark.parametrize("k", [1, 10, 300])
def test_merged_results_of_parts_are_those_of_the_whole(k):
    """A passage at the edge of a part would be lost, or equal scores come in the order of the parts."""
    parts = []
    for first, end in pairwise([0, 7, 8, 150, 300]):
        scores, ids = search(build_index(VECTORS[first:end]), QUERIES, min(k, end - first))
        parts.append((scores, ids + first))
    expected = search(build_index(VECTORS), QUERIES, k)
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


@pytest.mark.parametrize("factory", ["Flat", "HNSW64", "PCA4,Flat", "IDMap,Flat", "Flat,RFlat"])
def test_an_index_of_another_metric_is_refused(tmp_path, factory):
    """The farthest passages would come first: recall 0 of a perfect model."""
    index = faiss.index_factory(6, factory)  # its default metric is L2
    index.train(VECTORS)
    index.add_with_ids(VECTORS, np.arange(300)) if "IDMap" in factory else index.add(VECTORS)
    faiss.write_index(index, str(tmp_path / "a.faiss"))
    with pytest.raises(ValueError, match=r"ranks by another metric .* faiss\.METRIC_INNER_PRODUCT"):
        search(load_index(tmp_path / "a.faiss"), QUERIES, k=5)
    with pytest.raises(ValueError, match=r"^'b.faiss' is not there, is cut short, or is no FAISS index\.$"):
        load_index(tmp_path / "b.faiss")


# --- the sample that an index is trained on: of the whole corpus, not of its beginning

TOPICS, EACH, DIM = 40, 500, 16


@pytest.fixture(scope="module")
def sorted_corpus() -> list[np.ndarray]:
    """Give forty topics, a shard each: as a dump of a wiki or a shop is sorted."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((TOPICS, 1, DIM))
    vectors = centres + 0.3 * rng.standard_normal((TOPICS, EACH, DIM))
    return list((vectors / np.linalg.norm(vectors, axis=2, keepdims=True)).astype(np.float32))


def test_an_index_is_trained_on_all_shards(sorted_corpus):
    """Centroids of the first topic alone divide all others at random: the index would find little of what is near."""
    index = build_index(sorted_corpus, "IVF40,Flat")
    first = faiss.index_factory(DIM, "IVF40,Flat", faiss.METRIC_INNER_PRODUCT)
    first.train(sorted_corpus[0])
    first.add(np.concatenate(sorted_corpus))
    queries = np.stack([shard[3] for shard in sorted_corpus])
    exact = search(build_index(sorted_corpus), queries, 10)[1]
    found = [one.search(queries, 10)[1] for one in (index, first)]
    shares = [np.mean([np.isin(a, b).mean() for a, b in zip(exact, ids, strict=True)]) for ids in found]
    assert shares[0] > shares[1] + 0.1


def test_the_sample_is_the_same_however_vectors_are_divided(sorted_corpus):
    """The index, and every figure of a lesson made with it, would depend on the size of a shard."""
    whole = np.concatenate(sorted_corpus)
    drawn = dense.sample(sorted_corpus, len(whole), 1000)
    assert np.array_equal(drawn, dense.sample(np.array_split(whole, 7), len(whole), 1000))
    assert len(np.unique(drawn, axis=0)) == 1000
    assert np.isin(drawn[:, 0], whole[-2000:, 0]).sum() > 50  # of its last tenth, of which 100 are expected
    assert np.array_equal(dense.sample(sorted_corpus, len(whole), 10**6), whole)


@pytest.mark.parametrize(
    ("factory", "size"),
    [
        ("PQ4", 65_536),
        ("IVF1024,Flat", 262_144),
        ("IVF16384,PQ4", 638_976),  # 39 a centroid
        ("OPQ4,IVF512,PQ4", 131_072),
        ("IVF512,PQ4x4fs,RFlat", 131_072),
    ],
)
def test_the_sample_has_the_size_that_faiss_needs(factory, size):
    """Too few for the lists would leave some empty; all of a large corpus would not fit into memory."""
    index = faiss.index_factory(DIM, factory, faiss.METRIC_INNER_PRODUCT)
    assert dense.training_size(index) == size


def test_a_generator_is_refused_where_it_is_gone_through_twice(sorted_corpus):
    """The index would be trained on shards that are then missing from it."""
    with pytest.raises(ValueError, match=r"'IVF4,Flat' is trained on a sample .* a generator can be once"):
        build_index(iter(sorted_corpus), "IVF4,Flat")
    assert build_index(iter(sorted_corpus[:2]), "HNSW4").ntotal == 2 * EACH
