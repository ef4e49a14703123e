"""Systems made of rankings: runs in trec_eval's order, fusion by hand, reranking against the plainest computation."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.data import RetrievalDataset, from_ids
from helpers.report import compare, comparison
from helpers.report.spec import Spec
from helpers.systems import Ranking
from helpers.systems.combine import Fusion, Rerank, Run
from helpers.systems.pipeline import retrieve
from tests.growth import work
from tests.systems.samples import collection


def fixed(scores, ids):
    """Give one ranking."""
    return Ranking(np.array(scores, np.float32), np.array(ids))


LAST = SimpleNamespace(  # a reranker that likes the last candidates best
    scores=lambda data, candidates: [np.arange(len(row[row >= 0]), dtype=float) for row in candidates]
)


@pytest.fixture
def four():
    """Give a collection of four passages and one query."""
    return RetrievalDataset("four", ["q"], list("abcd"), [{0: 1}], ["q"], ["p0", "p1", "p2", "p3"])


@pytest.mark.parametrize("how", ["rrf", "weighted"])
def test_more_queries_are_fused_with_no_line_more(four, how):
    """A fusion on MS MARCO dev would take as long as its searches; one of rankings without a passage would fail."""
    lines = []
    for queries in (2, 2, 200):  # the first imports
        ids = np.random.default_rng(0).permuted(np.tile(np.arange(4), (queries, 1)), axis=1)
        fusion = Fusion([fixed(-ids, ids), fixed(-ids, ids[:, ::-1])], how=how)
        names = [*map(str, range(queries))]
        data = replace(four, queries=names, qrels=[{0: 1}] * queries, query_ids=names)
        lines.append(work(lambda fusion=fusion, data=data: fusion.rank(data, 4)).lines)
    assert lines[2] == lines[1]
    assert (Fusion([fixed([[0.0]], [[-1]])], how=how).rank(four, 2).ids == -1).all()


def test_too_large_a_k_is_refused_before_anything_is_encoded():
    """A reader would learn after an hour of encoding that the corpus has fewer passages."""
    with pytest.raises(ValueError, match="k=99"):
        retrieve(lambda *_: pytest.fail("encoded"), "BM25", collection(), 99)


def test_a_run_is_ranked_as_trec_eval_ranks():
    """Ties by id descending, documents of elsewhere in their ranks; a run would else score otherwise than there."""
    run = Run({"q1": {"d9": 3.0, "d2": 3.0, "x": 2.0, "d1": 1.0}, "q6": {"d1": 1e39, "d2": 2e39}, "other": {"d1": 1}})
    data = collection()
    with pytest.warns(UserWarning, match="1 of the run's 4 documents are not in the corpus"):
        found = run.rank(data, 4)
    ids = run.doc_ids(data)
    assert [ids[row] for row in found.ids[0]] == ["d9", "d2", "x", "d1"]
    assert found.ids[1].tolist() == [-1] * 4
    assert [ids[row] for row in found.ids[5, :2]] == ["d2", "d1"]
    assert np.isfinite(found.scores).all()


def test_reciprocal_rank_fusion_by_hand(four):
    """1/61 + 1/62 for two, 1/61 + nothing for another; a constant or a rank off by one would show."""
    parts = [fixed([[9, 8, 7]], [[2, 0, 1]]), fixed([[1, 0.5, 0]], [[0, 3, -1]])]
    found = Fusion(parts).rank(four, 4)
    assert found.ids.tolist() == [[0, 2, 3, 1]]
    np.testing.assert_allclose(found.scores[0], [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63], rtol=1e-6)


def test_the_constant_of_reciprocal_rank_fusion_is_the_callers(four):
    """A reader who varies it would see the same fusion each time, or a first place that counts infinitely."""
    parts = [fixed([[9, 8, 7]], [[2, 0, 1]]), fixed([[1, 0.5, 0]], [[3, 0, -1]])]
    assert Fusion(parts).rank(four, 1).ids.tolist() == [[0]]  # 2/62 is more than 1/61
    found = Fusion(parts, rrf_k=0).rank(four, 4)
    assert found.ids.tolist() == [[3, 2, 0, 1]]  # three equal, id as text descending as in trec_eval
    assert Fusion(parts, rrf_k=0).rank(four, 2).ids.tolist() == [[3, 2]]  # where the list is cut too
    np.testing.assert_allclose(found.scores[0], [1, 1, 1, 1 / 3], rtol=1e-6)
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="at least 0, such as 60"):
            Fusion(parts, rrf_k=wrong)
    with pytest.raises(ValueError, match="how='RRF': expected 'rrf' or 'weighted'"):
        Fusion(parts, how="RRF")
    for wrong in ([1], [0, 0], [1, -1], [1, "2"]):
        with pytest.raises(ValueError, match="expected 2 numbers of at least 0, one a system"):
            Fusion(parts, how="weighted", weights=wrong)


def test_weighted_fusion_by_hand(four):
    """Scores scaled from 0 to 1 within each system, then weighted; unscaled, the larger scale would decide alone."""
    parts = [fixed([[900, 500, 100]], [[2, 0, 1]]), fixed([[3, 1, 0]], [[0, 3, -1]])]
    found = Fusion(parts, "weighted", [0.5, 2.0]).rank(four, 4)
    assert found.ids.tolist() == [[0, 2, 3, 1]]  # 0.5 * 0.5 + 2, 0.5, 0, 0
    np.testing.assert_allclose(found.scores[0], [2.25, 0.5, 0, 0], rtol=1e-6)


def test_documents_that_the_corpus_lacks_are_neither_fused_nor_reranked(four):
    """Two runs number what only they know alike, and a reranker has no text of it: one would get another's votes."""
    parts = [Run({"q": {"x": 2.0, "p1": 1.0}}), Run({"q": {"y": 2.0, "p1": 1.0}})]
    with pytest.warns(UserWarning, match="not in the corpus"):
        found = [system.rank(four, 3).ids.tolist() for system in (Fusion(parts), Rerank(parts[0], LAST))]
    assert found == [[[1, -1, -1]]] * 2


def test_a_ranking_is_a_part_that_is_ready(four):
    """A fusion would rank its parts again, or look at more of one than it asked for."""
    ranking = fixed([[3, 2, 1, 0]], [[0, 1, 2, 3]])
    assert ranking.rank(four, 2).ids.tolist() == [[0, 1]]
    assert Fusion([ranking, ranking], depth=1).rank(four, 2).ids.tolist() == [[0, -1]]


def test_a_part_is_ranked_once(monkeypatch, tmp_path):
    """A model in a table and in two fusions would encode three times; an error would come three times as slowly."""
    asked = []

    def count(spec, system, data, real=comparison.metadata):
        asked.append(spec.name) if system is not None else None
        return real(spec, system, data)

    monkeypatch.setattr("helpers.report.comparison.metadata", count)
    fused = [Spec(name, "fuse", parts=("BM25", "tfidf"), named=True) for name in ("one", "two")]
    found = compare([Spec("BM25", "words", "BM25"), *fused], collection(), 3)
    assert asked == ["BM25", "tfidf", "one", "two"]
    assert list(found.results) == ["BM25", "one", "two"]  # the baseline that only fusions name has no row


def test_a_part_that_fails_is_named_by_its_users(tmp_path):
    """The reader would look for the mistake in the fusion."""
    specs = [Spec("broken", "run", str(tmp_path / "r.trec")), Spec("fused", "fuse", parts=("broken", "bm25"))]
    (tmp_path / "r.trec").write_text("q1 Q0 elsewhere 1 1.0 t\n")
    found = compare(specs, collection(), 3)
    assert "Its part 'broken' failed: No document of the run is in the data" in found.failed["fused"]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({}, "The run is empty"),
        ({"other": {"p1": 1.0}}, "No query of the run is in the data \\(for example 'other' against 'q'\\)"),
        ({"q": {"x": 1.0}}, "No document of the run is in the data \\(for example 'x' against 'p0'\\)"),
    ],
)
def test_a_run_that_matches_nothing_is_refused(four, run, message):
    """Zeros would look like a bad engine, and be a green job."""
    with pytest.raises(ValueError, match=message):
        Run(run).rank(four, 2)


def test_reranking_goes_no_deeper_than_it_was_told(four):
    """A reranker would read passages beyond its depth, cost more, and not be the system that its name says."""
    part = fixed([[3, 2, 1, 0]], [[0, 1, 2, 3]])
    assert Rerank(part, LAST, depth=2).rank(four, 4).ids.tolist() == [[1, 0, -1, -1]]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1.0, np.nan, 0.5]], "3 scores for query 'q', 1 of them NaN or infinite: expected a finite number for each"),
        ([[1.0, 0.5]], "2 scores for query 'q', 0 of them NaN or infinite: expected .* each of its 3 candidates"),
    ],
)
def test_a_reranker_that_scores_something_else_is_refused(four, scores, message):
    """NaN would be ranked anywhere, and a score too few would go to another passage."""
    broken = SimpleNamespace(scores=lambda data, candidates: [np.array(row) for row in scores])
    with pytest.raises(ValueError, match=message):
        Rerank(fixed([[3, 2, 1]], [[0, 1, 2]]), broken).rank(four, 3)


def test_a_run_may_name_passages_that_were_merged():
    """A run that is perfect by the source's own judgements would score 0 wherever it names the other of two copies."""
    texts = {"a": "same", "b": "same", "c": "other"}
    data = from_ids("t", {"q": "question"}, texts, {"q": {"b": 1}})
    run = Run({"q": {"b": 2.0, "c": 1.5, "a": 1.0}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run.rank(data, 3)
    assert [[run.doc_ids(data)[row] for row in ids if row >= 0] for ids in found.ids] == [["a", "c"]]
    assert found.scores.tolist() == [[2.0, 1.5, 0.0]]
