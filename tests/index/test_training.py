"""On what an index is trained: a sample of the whole corpus, not its beginning."""

import faiss
import numpy as np
import pytest

from helpers.index import build_index, dense, search

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
