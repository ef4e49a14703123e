"""helpers.metrics against trec_eval, ir_measures and scikit-learn, its properties, and bad input."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from itertools import chain

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, precision_score, recall_score

from helpers import metrics as lib
from helpers.metrics import Judgements, evaluate, find_hits

RELEVANT = [[11, 1, 7, 17, 21], [4, 16, 1], [26, 10, 22, 8]]
RETRIEVED = [
    [11, 1, 17, 7, 21, 8, 0, 28, 9, 20],
    [16, 1, 6, 18, 3, 4, 25, 19, 8, 14],
    [24, 10, 26, 2, 8, 28, 4, 23, 13, 21],
]
BARE = ["recall", "capped_recall", "precision", "mrr", "map", "ndcg", "success", "judged"]
CUTOFFS = [1, 3, 5, 10, 100]
TREC_NAMES = {
    "recall": "recall_",
    "precision": "P_",
    "map": "map_cut_",
    "ndcg": "ndcg_cut_",
    "success": "success_",
}
# what is special about the random runs: (grades, judged per query, depth, distinct scores, chance of an empty ranking)
KINDS = {
    "graded": ([0, 1, 2, 3], (1, 8), (5, 40), 10**6, 0.0),
    "short and empty": ([0, 1, 2], (1, 8), (0, 4), 10**6, 0.3),
    "ties": ([0, 1, 2], (1, 8), (5, 40), 3, 0.0),
    "many relevant": ([1, 2, 3, 7], (60, 150), (50, 200), 10**6, 0.0),
    "none retrieved": ([1, 2], (1, 5), (5, 20), 10**6, 0.0),
    "negative and nothing relevant": ([-2, -1, 0, 1], (1, 4), (5, 40), 10**6, 0.0),
}
RUNS = 200


def random_run(kind: str, seed: int) -> tuple[list[dict[int, int]], np.ndarray, np.ndarray]:
    """Judgements and a padded search result (ids and float32 scores) of six queries."""
    grades, n_judged, depths, levels, p_empty = KINDS[kind]
    rng = np.random.default_rng([seed, *kind.encode()])
    queries, universe = 6, 200 if kind == "many relevant" else 50
    qrels, ids, scores = [], np.full((queries, 200), -1), np.full((queries, 200), -np.inf, np.float32)
    for row in range(queries):
        docs = rng.choice(universe, rng.integers(*n_judged, endpoint=True), replace=False)
        graded = {int(doc): int(rng.choice(grades)) for doc in docs}
        if max(graded.values()) < 0:  # pytrec_eval 0.5.11 crashes on a query with negative grades alone
            graded[int(docs[0])] = 0
        qrels.append(graded)
        depth = 0 if rng.random() < p_empty else rng.integers(*depths, endpoint=True)
        found = rng.permutation(universe)[:depth] + (universe if kind == "none retrieved" else 0)
        ids[row, : len(found)] = found
        value = rng.integers(0, levels, len(found)).astype(np.float32)
        scores[row, : len(found)] = -np.sort(-value)
    return qrels, ids, scores


def text_forms(qrels: list, ids: np.ndarray, scores: np.ndarray) -> tuple[dict, dict]:
    """The same as {query: {doc: …}} with ids as text."""
    run = {
        str(row): {str(doc): float(score) for doc, score in zip(docs, values, strict=True) if doc >= 0}
        for row, (docs, values) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True))
    }
    return {str(row): {str(doc): grade for doc, grade in docs.items()} for row, docs in enumerate(qrels)}, run


def settled(run: dict) -> dict:
    """The run in trec_eval's order without ties: ir_measures settles them by id ascending in RR@k and Judged alone."""
    order = {query: sorted(docs, key=lambda d: (docs[d], d), reverse=True) for query, docs in run.items()}
    return {query: {doc: -float(rank) for rank, doc in enumerate(docs)} for query, docs in order.items()}


def trec_values(qrels: dict, run: dict, exponential: bool = False) -> dict[str, np.ndarray]:
    """What trec_eval says, by our names; reciprocal rank has no cutoff there."""
    if exponential:
        qrels = {query: {doc: 2 ** max(g, 0) - 1 for doc, g in docs.items()} for query, docs in qrels.items()}
    at = ",".join(map(str, CUTOFFS))
    wanted = {f"{name}.{at}" for name in ("recall", "P", "map_cut", "ndcg_cut", "success")} | {"recip_rank", "Rprec"}
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    values = {
        f"{ours}@{k}": np.array([found[query][f"{theirs}{k}"] for query in qrels])
        for ours, theirs in TREC_NAMES.items()
        for k in CUTOFFS
    }
    values["mrr@200"] = np.array([found[query]["recip_rank"] for query in qrels])
    values["rprec"] = np.array([found[query]["Rprec"] for query in qrels])
    return values


def differing_doubles(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> int:
    """How many values are not the same 64 bits."""
    return sum(int(np.count_nonzero(ours[name].view(np.int64) != theirs[name].view(np.int64))) for name in theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_bit_identical_to_trec_eval(kind):
    """Per-query values would differ from trec_eval's in at least one bit, in the array form or in the run form."""
    names = [f"{name}@{k}" for name in TREC_NAMES for k in CUTOFFS] + ["mrr@200", "rprec"]
    differing = compared = 0
    for seed in range(RUNS):
        qrels, ids, scores = random_run(kind, seed)
        text_qrels, run = text_forms(qrels, ids, scores)
        theirs = trec_values(text_qrels, run)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="No document of the run occurs")
            differing += differing_doubles(evaluate(ids, qrels, names, scores=scores).per_query, theirs)
            differing += differing_doubles(evaluate(run, text_qrels, names).per_query, theirs)
        compared += 2 * sum(map(len, theirs.values()))
    assert compared >= RUNS * 2 * 6 * len(names)
    assert differing == 0


def test_exponential_gain_is_trec_eval_on_mapped_grades():
    """The exponential gain would not be 2^grade - 1 summed as trec_eval sums."""
    names = [f"ndcg@{k}" for k in CUTOFFS]
    for seed in range(RUNS):
        qrels, ids, scores = random_run("graded", seed)
        theirs = trec_values(*text_forms(qrels, ids, scores), exponential=True)
        ours = evaluate(ids, qrels, names, scores=scores, gain="exponential").per_query
        assert differing_doubles(ours, {name: theirs[name] for name in names}) == 0


def test_discount_of_every_rank_is_trec_eval():
    """The logarithm of some rank would differ in its last bit, as numpy's own does on some processors."""
    depth = 300
    ids = np.tile(np.arange(depth), (depth, 1))
    scores = np.tile(-np.arange(depth, dtype=np.float32), (depth, 1))
    qrels = [{row: 1} for row in range(depth)]
    text_qrels, run = text_forms(qrels, ids, scores)
    found = pytrec_eval.RelevanceEvaluator(text_qrels, {f"ndcg_cut.{depth}"}).evaluate(run)
    theirs = {f"ndcg@{depth}": np.array([found[query][f"ndcg_cut_{depth}"] for query in text_qrels])}
    assert differing_doubles(evaluate(ids, qrels, f"ndcg@{depth}").per_query, theirs) == 0


@pytest.mark.parametrize("level", [2, 3])
def test_relevance_level_is_trec_eval(level):
    """Grades below the level would count as relevant, or nDCG heed the level, unlike with trec_eval's -l."""
    wanted = {"recall.5", "P.5", "map_cut.5", "ndcg_cut.5", "success.5", "recip_rank", "Rprec"}
    names = {"recall@5": "recall_5", "precision@5": "P_5", "map@5": "map_cut_5", "ndcg@5": "ndcg_cut_5",
             "success@5": "success_5", "mrr@200": "recip_rank", "rprec": "Rprec"}  # fmt: skip
    for seed in range(RUNS):
        qrels, ids, scores = random_run("graded", seed)
        text_qrels, run = text_forms(qrels, ids, scores)
        found = pytrec_eval.RelevanceEvaluator(text_qrels, wanted, relevance_level=level).evaluate(run)
        theirs = {ours: np.array([found[query][name] for query in text_qrels]) for ours, name in names.items()}
        ours = evaluate(ids, qrels, list(names), scores=scores, relevance_level=level)
        assert differing_doubles(ours.per_query, theirs) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_ir_measures(kind):
    """Reciprocal rank at a cutoff, Judged and the rest would differ from ir_measures by more than 1e-12."""
    from ir_measures import AP, RR, Judged, P, R, Rprec, Success, nDCG

    pairs = {"recall": R, "precision": P, "mrr": RR, "map": AP, "ndcg": nDCG, "success": Success, "judged": Judged}
    pairs = {f"{name}@{k}": measure @ k for name, measure in pairs.items() for k in (1, 5, 10)} | {"rprec": Rprec}
    back = {str(measure): name for name, measure in pairs.items()}
    for seed in range(RUNS):
        qrels, ids, scores = random_run(kind, seed)
        text_qrels, run = text_forms(qrels, ids, scores)
        if kind == "short and empty":
            run = {query: docs for query, docs in run.items() if docs} or {"0": {"none": 1.0}}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="No document of the run occurs")
            ours = evaluate(run, text_qrels, list(pairs))
        row = {query: i for i, query in enumerate(ours.query_ids)}
        seen = 0
        own = [measure for name, measure in pairs.items() if name.startswith(("mrr", "judged"))]
        rest = [measure for measure in pairs.values() if measure not in own]
        for value in chain(
            ir_measures.iter_calc(rest, text_qrels, run), ir_measures.iter_calc(own, text_qrels, settled(run))
        ):
            assert ours.per_query[back[str(value.measure)]][row[value.query_id]] == pytest.approx(
                value.value, rel=0, abs=1e-12
            )
            seen += 1
        assert seen >= len(pairs) * (len(run) - (kind == "short and empty"))


def test_equal_to_scikit_learn_where_definitions_coincide():
    """On a complete ranking without ties AP, nDCG, precision and recall would differ from scikit-learn."""
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        grades, scores = rng.integers(0, 4, 30), rng.permutation(30).astype(float)
        grades[rng.integers(30)] = 1
        order = np.argsort(-scores)[None]
        qrels = [dict(enumerate(grades.tolist()))]
        ours = evaluate(order, qrels, ["map@30", "ndcg@10", "ndcg@30", "precision@10", "recall@10"]).mean
        top10 = np.zeros(30, int)
        top10[order[0, :10]] = 1
        theirs = {
            "map@30": average_precision_score(grades > 0, scores),
            "ndcg@10": ndcg_score(grades[None], scores[None], k=10),
            "ndcg@30": ndcg_score(grades[None], scores[None]),
            "precision@10": precision_score(grades > 0, top10),
            "recall@10": recall_score(grades > 0, top10),
        }
        assert ours == pytest.approx(theirs, rel=0, abs=1e-12)


# Derived by hand, hits at ranks 1-5 of 5; 1, 2, 6 of 3; 2, 3, 5 of 4:
#   recall@5 = (5/5 + 2/3 + 3/4) / 3 = 29/36; AP@5 = (1 + 2/3 + (1/2 + 2/3 + 3/5)/4) / 3 = 0.702777…
EXPECTED = {
    "recall": (8 / 45, 29 / 36, 11 / 12),
    "capped_recall": (2 / 3, 29 / 36, 11 / 12),
    "precision": (2 / 3, 2 / 3, 11 / 30),
    "mrr": (2 / 3, 5 / 6, 5 / 6),
    "map": (8 / 45, (1 + 2 / 3 + 53 / 120) / 3, (1 + 5 / 6 + 53 / 120) / 3),
    "ndcg": (2 / 3, 0.785958, 0.841678),
}


@pytest.mark.parametrize("form", ["lists", "array", "text run", "grades"])
def test_worked_example(form):
    """The values of lesson 02 would be wrong in one of the accepted forms."""
    retrieved, qrels = RETRIEVED, RELEVANT
    if form == "array":
        retrieved = np.array(RETRIEVED, dtype=np.int32)
    if form == "grades":
        retrieved, qrels = np.array(RETRIEVED), [dict.fromkeys(docs, 1) for docs in RELEVANT]
    if form == "text run":
        retrieved, qrels = (
            {f"q{i}": [f"d{doc}" for doc in docs] for i, docs in enumerate(x)} for x in (RETRIEVED, RELEVANT)
        )
    result = evaluate(retrieved, qrels, list(EXPECTED), [1, 5, 10])
    for name, values in EXPECTED.items():
        got = [result.mean[f"{name}@{k}"] for k in (1, 5, 10)]
        assert got == pytest.approx(values, abs=5e-7 if name == "ndcg" else 1e-12), name


def test_one_implementation_serves_functions_and_evaluate():
    """A public metric function would say something else than `evaluate`."""
    qrels, ids, _ = random_run("graded", 1)
    for name, metric in lib.METRICS.items():
        if name == "rprec":
            alone, together = metric(ids, qrels), evaluate(ids, qrels, "rprec").per_query["rprec"]
        else:
            alone, together = (
                metric(ids, qrels, 7),
                evaluate(ids, qrels, [f"{name}@7", "recall@100"]).per_query[f"{name}@7"],
            )
        assert np.array_equal(alone, together), name


@st.composite
def problems(draw):
    """Judgements with at least one relevant document, and rankings without repetitions, of one to four queries."""
    qrels, ids = [], []
    depth = draw(st.integers(1, 12))
    for _ in range(draw(st.integers(1, 4))):
        docs = draw(st.lists(st.integers(0, 30), min_size=1, max_size=10, unique=True))
        grades = draw(st.lists(st.integers(-1, 3), min_size=len(docs), max_size=len(docs)))
        qrels.append(dict(zip(docs, [*grades[:-1], max(1, grades[-1])], strict=True)))
        ids.append(draw(st.permutations(range(31)))[:depth])
    return np.array(ids), qrels


@settings(max_examples=150, deadline=None)
@given(problems())
def test_properties(problem):
    """A value would leave [0, 1], recall or success fall as k grows, or renaming the documents change a value."""
    ids, qrels = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = evaluate(ids, qrels, [*BARE, "rprec"], range(1, 13)).per_query
        new = np.random.default_rng(0).permutation(1000)[:31]
        renamed = evaluate(
            new[ids], [{int(new[d]): g for d, g in docs.items()} for docs in qrels], [*BARE, "rprec"], range(1, 13)
        )
    for name, column in values.items():
        assert ((column >= 0) & (column <= 1 + 1e-12)).all(), name
        assert np.array_equal(column, renamed.per_query[name]), name
    for k in range(2, 13):
        for name in ("recall", "success", "mrr", "map"):
            assert (values[f"{name}@{k}"] >= values[f"{name}@{k - 1}"]).all(), name


@settings(max_examples=100, deadline=None)
@given(problems())
def test_ideal_ranking_scores_one(problem):
    """The best possible ranking would not score 1 where the metric's maximum is 1, at every cutoff."""
    _, qrels = problem
    ideal = [sorted(docs, key=docs.get, reverse=True) for docs in qrels]
    result = evaluate(ideal, qrels, ["ndcg", "mrr", "success", "capped_recall", "judged"], [1, 3, 20]).per_query
    result |= evaluate(ideal, qrels, ["map@20", "recall@20", "rprec"]).per_query
    for name, column in result.items():
        assert column == pytest.approx(1, abs=1e-12), name


@settings(max_examples=100, deadline=None)
@given(problems(), st.data())
def test_moving_a_relevant_document_up_never_hurts(problem, data):
    """Some metric would fall when a relevant document trades places with a less relevant one above it."""
    ids, qrels = problem
    row = data.draw(st.integers(0, len(ids) - 1))
    low = data.draw(st.integers(0, ids.shape[1] - 1))
    high = data.draw(st.integers(0, low))
    grade = lambda doc: max(0, qrels[row].get(int(doc), 0))  # noqa: E731
    better = ids.copy()
    if grade(ids[row, low]) > grade(ids[row, high]):
        better[row, [low, high]] = better[row, [high, low]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, after = (
            evaluate(x, qrels, ["recall", "mrr", "map", "ndcg"], [1, 4, 12]).per_query for x in (ids, better)
        )
    for name in before:
        assert (after[name] >= before[name] - 1e-12).all(), name


def test_ties_follow_trec_eval_and_are_counted():
    """Tied documents would keep the order given, or the text 9 would stand below the text 10."""
    ids, scores = np.array([[10, 9, 5], [1, 2, 3]]), np.array([[0.5, 0.5, 0.1], [0.9, 0.8, 0.7]], np.float32)
    result = evaluate(ids, [{10: 1}, {1: 1}], ["mrr@3"], scores=scores)
    assert result.per_query["mrr@3"].tolist() == [0.5, 1.0]
    assert result.tied == 1
    assert evaluate(ids, [{10: 1}, {1: 1}], ["mrr@3"]).per_query["mrr@3"].tolist() == [1.0, 1.0]
    run = {"a": {"10": 0.5, "9": 0.5, "5": 0.1}}
    assert evaluate(run, {"a": {"10": 1}}, "mrr@3").mean == {"mrr@3": 0.5}


def test_tie_across_the_cutoff_is_settled():
    """A tied document beyond the cutoff could not displace the one before it, as it does in trec_eval."""
    ids, scores = np.array([[1, 2, 3]]), np.full((1, 3), 0.5)
    assert evaluate(ids, [{1: 1}], ["recall@1"], scores=scores).mean["recall@1"] == 0
    assert evaluate(ids, [{3: 1}], ["recall@1"], scores=scores).mean["recall@1"] == 1


def test_scores_are_compared_in_single_precision():
    """Scores that trec_eval cannot tell apart would be ordered all the same."""
    run = {"q": {"a": 1.0 + 1e-12, "b": 1.0}}
    assert evaluate(run, {"q": {"a": 1}}, "mrr@2").mean["mrr@2"] == 0.5
    result = evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[1.0 + 1e-12, 1.0]]))
    assert (result.mean["mrr@2"], result.tied) == (0.5, 1)


def test_unsorted_scores_are_sorted():
    """Scores in any order would be taken for sorted."""
    ids, scores = np.array([[4, 7, 9], [1, 2, 3]]), np.array([[0.1, 0.9, 0.5], [0.3, 0.2, 0.1]])
    assert evaluate(ids, [{9: 1}, {1: 1}], "mrr@3", scores=scores).per_query["mrr@3"].tolist() == [0.5, 1.0]


def test_edge_queries_count_zero_and_are_reported():
    """A query with nothing relevant, missing or unjudged would change the mean silently."""
    qrels = {"a": {"d1": 1}, "b": {"d1": 0}, "c": {"d2": 1}}
    run = {"a": ["d1"], "b": ["d1"], "x": ["d1"]}
    result = evaluate(run, qrels, ["recall@1", "ndcg@1"])
    assert result.mean == {"recall@1": 1 / 3, "ndcg@1": 1 / 3}
    assert (result.queries, result.no_relevant, result.missing, result.unjudged, result.tied) == (3, 1, 1, 1, 0)
    skipped = evaluate(run, qrels, "recall@1", no_relevant="skip")
    assert skipped.mean == {"recall@1": 0.5}
    assert (list(skipped.query_ids), skipped.queries, skipped.no_relevant) == (["a", "c"], 2, 1)
    with pytest.raises(ValueError, match="'b'"):
        evaluate(run, qrels, "recall@1", no_relevant="raise")


def test_padding_is_not_a_document():
    """FAISS padding would count as retrieved, or an all-padding row as answered."""
    ids = np.array([[3, -1, -1], [-1, -1, -1]])
    result = evaluate(ids, [{3: 1}, {4: 1}], ["recall@3", "judged@3"])
    assert result.per_query["recall@3"].tolist() == [1, 0]
    assert result.per_query["judged@3"].tolist() == [1, 0]
    assert result.missing == 1


def test_rankings_without_a_place_score_zero():
    """A search that returned nothing at all would end in an error about something else."""
    with pytest.warns(UserWarning, match="hold 0 places"):
        result = evaluate(np.zeros((2, 0), np.int64), [{3: 1}, {4: 2}], ["recall@3", "ndcg@3", "rprec"])
    assert result.mean == {"recall@3": 0, "ndcg@3": 0, "rprec": 0}
    assert result.missing == 2


@pytest.mark.parametrize("width", [2, 100])
@pytest.mark.parametrize("bits", [24, 25, 31, 32, 33, 56, 57])
def test_ids_that_agree_in_their_lower_bits_are_told_apart(bits, width):
    """Ids would be cut to what fits 32 or 64 bits and taken for the same document."""
    big, rest = 1 << bits, np.arange(100, 98 + width)
    for ranking, qrels, values in (
        ([big + 5, 7], {5: 1, 7: 1}, [0.5, 0.5]),
        ([5, big + 5], {big + 5: 1}, [1, 0.5]),
        ([5, 7], {big + 5: 1, 7: 1}, [0.5, 0.5]),
    ):
        means = evaluate(np.array([[*ranking, *rest]]), [qrels], ["recall", "mrr"], [width]).mean
        assert list(means.values()) == values
    with pytest.raises(ValueError, match=f"{big + 5} twice"):
        evaluate(np.array([[big + 5, big + 5, *rest]]), [{5: 1}], "recall", [width])


@pytest.mark.parametrize("offset", [0, 1 << 23, 1 << 31, 1 << 40, (1 << 63) - 1000])
@pytest.mark.parametrize(("width", "most"), [(1, 30), (12, 20), (12, 21), (100, 1), (100, 40)])
def test_hits_are_those_of_a_plain_search(width, most, offset):
    """Short rankings are compared, long ones sorted, in 32 bits, in 64 or counted through: one of these would err."""
    rng = np.random.default_rng([width, most])
    ids = np.array([rng.permutation(150)[:width] for _ in range(40)]) + offset
    for row in range(20):
        ids[row, rng.integers(1, width + 1) :] = rng.choice([-1, -9])
    qrels = [
        {
            int(doc) + offset: int(grade)
            for doc, grade in zip(rng.permutation(150)[:n], rng.integers(-2, 4, n), strict=True)
        }
        for n in [most, *rng.integers(0, most + 1, 39).tolist()]
    ]
    hits = lib.find_hits(ids, qrels, width)
    found = zip(hits.seen.query.tolist(), hits.seen.rank.tolist(), hits.seen.grade.tolist(), strict=True)
    plain = [
        (query, rank, qrels[query][doc])
        for query, ranking in enumerate(ids.tolist())
        for rank, doc in enumerate(ranking, 1)
        if doc in qrels[query]
    ]
    assert sorted(found) == plain
    assert np.all(np.diff(hits.seen.rank) >= 0)
    assert hits.retrieved.tolist() == np.count_nonzero(ids >= 0, axis=1).tolist()


@pytest.mark.parametrize("offset", [0, 1 << 40, (1 << 63) - 1000])
@pytest.mark.parametrize("width", [12, 100])
def test_a_repeated_id_is_named_with_its_query(width, offset):
    """A repetition far from its like, or beside padding, would go unseen or be told of another query."""
    ids = np.tile(np.arange(width), (30, 1)) + offset
    qrels = [{7 + offset: 1}] * 30
    lib.find_hits(ids, qrels, width)
    ids[17, -1] = ids[17, 0]
    with pytest.raises(ValueError, match=f"query 17 holds {offset} twice"):
        lib.find_hits(ids, qrels, width)
    ids[3, 5:] = -1
    with pytest.raises(ValueError, match=f"query 17 holds {offset} twice"):
        lib.find_hits(ids, qrels, width)
    ids[17, -1], ids[18, 0] = width + offset, -1
    with pytest.raises(ValueError, match="query 18 has padding"):
        lib.find_hits(ids, qrels, width)


def test_blocks_do_not_change_values(monkeypatch):
    """Rankings split over several blocks would be matched with the wrong query."""
    qrels, ids, scores = random_run("many relevant", 3)
    names = ["recall@100", "ndcg@10", "map@100"]
    whole = evaluate(ids, qrels, names, scores=scores).per_query
    monkeypatch.setattr(lib, "_BLOCK", 300)
    parts = evaluate(ids, qrels, names, scores=scores).per_query
    assert all(np.array_equal(whole[name], parts[name]) for name in names)
    twice = np.tile(ids[:, :50], (1, 2))
    with pytest.raises(ValueError, match="twice"):
        evaluate(twice, qrels, names)


@pytest.mark.parametrize("most", [3, 200, 300, 70_000])
def test_queries_with_few_and_with_many_judgements_mix(most):
    """The number of a judgement would overflow, or a query with few would get those of its neighbour."""
    ids = np.array([[0, 1, 2, 3, 4]] * 4)
    qrels = [{4: 1}, {doc: 1 for doc in range(most, -1, -1)}, {7: 1}, {1: 1, 3: 2}]
    values = evaluate(ids, qrels, ["precision@5", "mrr@5"]).per_query
    assert values["precision@5"].tolist() == [1 / 5, min(5, most + 1) / 5, 0, 2 / 5]
    assert values["mrr@5"].tolist() == [1 / 5, 1, 0, 1 / 2]


def test_inputs_are_not_changed():
    """`evaluate` would write into the caller's arrays or dicts."""
    qrels, ids, scores = random_run("ties", 2)
    before = (repr(qrels), ids.copy(), scores.copy())
    ids.setflags(write=False)
    scores.setflags(write=False)
    evaluate(ids, qrels, BARE, [10], scores=scores)
    assert repr(qrels) == before[0]
    assert np.array_equal(ids, before[1])
    assert np.array_equal(scores, before[2])


def test_judgements_can_be_prepared_once():
    """Prepared judgements would score differently from the qrels they were made of."""
    qrels, ids, _ = random_run("graded", 5)
    assert evaluate(ids, Judgements.of(qrels), BARE, [10]).mean == evaluate(ids, qrels, BARE, [10]).mean


def test_names_are_canonical():
    """Names would keep the caller's spelling, or cutoffs be applied to names that have one."""
    result = evaluate(RETRIEVED, RELEVANT, ["nDCG@10", "MRR", "Rprec"], [1, 5])
    assert list(result.mean) == ["ndcg@10", "mrr@1", "mrr@5", "rprec"]


BAD_CALLS = {
    "too few rankings": (lambda: evaluate(RETRIEVED[:2], RELEVANT, "recall@1"), ValueError, "2 rankings for 3"),
    "repeated id, array": (lambda: evaluate(np.array([[1, 2, 1]]), [{1: 1}], "recall@3"), ValueError, "1 twice"),
    "repeated id, list": (lambda: evaluate([[1, 2, 1]], [{1: 1}], "recall@3"), ValueError, "1 twice"),
    "repeated unjudged id": (lambda: evaluate(np.array([[1, 2, 2]]), [{1: 1}], "recall@3"), ValueError, "2 twice"),
    "padding inside": (lambda: evaluate(np.array([[1, -1, 2]]), [{1: 1}], "recall@3"), ValueError, "padding"),
    "padding inside a list": (lambda: evaluate([[1, -1, 2]], [{1: 1}], "recall@3"), ValueError, "padding"),
    "grade NaN": (lambda: evaluate([[1]], [{1: math.nan}], "recall@1"), ValueError, "whole number, not nan"),
    "grade fraction": (lambda: evaluate([[1]], [{1: 0.5}], "recall@1"), ValueError, "whole number, not 0.5"),
    "grade text": (lambda: evaluate([[1]], [{1: "1"}], "recall@1"), ValueError, "whole number, not '1'"),
    "k is 0": (lambda: evaluate([[1]], [[1]], "recall@0"), ValueError, "at least 1, not '0'"),
    "k is a fraction": (lambda: evaluate([[1]], [[1]], ["recall"], [2.5]), ValueError, "at least 1, not 2.5"),
    "k is True": (lambda: lib.recall([[1]], [[1]], True), ValueError, "at least 1, not True"),
    "k is negative": (lambda: lib.ndcg([[1]], [[1]], -3), ValueError, "at least 1, not -3"),
    "no cutoff": (lambda: evaluate([[1]], [[1]], "recall"), ValueError, "needs a cutoff"),
    "unknown metric": (lambda: evaluate([[1]], [[1]], "f1@3"), ValueError, "Unknown metric 'f1@3'"),
    "R-precision with cutoff": (lambda: evaluate([[1]], [[1]], "rprec@3"), ValueError, "no cutoff"),
    "no metric": (lambda: evaluate([[1]], [[1]], []), ValueError, "No metric"),
    "empty qrels list": (lambda: evaluate([], [], "recall@1"), ValueError, "qrels is empty"),
    "empty qrels dict": (lambda: evaluate({"q": ["d"]}, {}, "recall@1"), ValueError, "qrels is empty"),
    "nothing relevant left": (
        lambda: evaluate([[1]], [{1: 0}], "recall@1", no_relevant="skip"),
        ValueError,
        "none is left",
    ),
    "text judged, rows ranked": (lambda: evaluate(np.array([[1]]), [{"1": 1}], "recall@1"), TypeError, "'1' \\(str\\)"),
    "text ranked, rows judged": (lambda: evaluate([["1"]], [{1: 1}], "recall@1"), TypeError, "ranking are text"),
    "text in a run, numbers judged": (
        lambda: evaluate({"q": ["1"]}, {"q": {1: 1}}, "recall@1"),
        TypeError,
        "ranking are text",
    ),
    "scores for ids": (lambda: evaluate(np.array([[0.9, 0.8]]), [{1: 1}], "recall@1"), TypeError, "look like scores"),
    "scores for ids, lists": (lambda: evaluate([[0.9, 0.8]], [{1: 1}], "recall@1"), TypeError, "look like scores"),
    "ids for scores": (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[1, 2]])),
        TypeError,
        "are these ids",
    ),
    "scores of another shape": (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[0.5]])),
        ValueError,
        "must agree",
    ),
    "score NaN": (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[0.5, math.nan]])),
        ValueError,
        "NaN",
    ),
    "score NaN in a run": (lambda: evaluate({"q": {"d": math.nan}}, {"q": ["d"]}, "recall@1"), ValueError, "NaN"),
    "run against list": (lambda: evaluate({"q": ["d"]}, [["d"]], "recall@1"), TypeError, "keyed by query"),
    "list against dict": (lambda: evaluate([["d"]], {"q": ["d"]}, "recall@1"), TypeError, "keyed by query"),
    "no judgements": (lambda: lib.recall([[1, 2]]), TypeError, "give the judgements"),
    "one id instead of a list": (lambda: evaluate([[1]], [1], "recall@1"), TypeError, "found int"),
    "text instead of a list": (lambda: evaluate([["d"]], ["d"], "recall@1"), TypeError, "found str"),
    "ranking is text": (lambda: evaluate(["d1"], [["d1"]], "recall@1"), TypeError, "expected a list of ids"),
    "judged twice": (lambda: evaluate([[1]], [[1, 1]], "recall@1"), ValueError, "twice for query number 0"),
    "negative judged row": (lambda: evaluate(np.array([[1]]), [{-1: 1}], "recall@1"), ValueError, "padding"),
    "flat array": (lambda: evaluate(np.array([1, 2]), [[1], [2]], "recall@1"), TypeError, "shape \\(2,\\)"),
    "unknown gain": (lambda: evaluate([[1]], [[1]], "ndcg@1", gain="squared"), ValueError, "squared"),
    "unknown rule": (lambda: evaluate([[1]], [[1]], "ndcg@1", no_relevant="drop"), ValueError, "drop"),
    "hits too shallow": (lambda: lib.recall(find_hits([[1]], [[1]], 1), k=2), ValueError, "reach rank 1"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_input_is_refused(name):
    """The mistake would give a number, or an error that does not name it."""
    call, error, message = BAD_CALLS[name]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(np.array([[1, 2]]), [{7: 1}], "recall@1"), "No document of the run"),
        (lambda: evaluate({"q": ["d1"]}, {"q": ["D1"]}, "recall@1"), "No document of the run"),
        (lambda: evaluate({"1": ["d1"]}, {"q1": ["d1"]}, "recall@1"), "No query of the run"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@10"), "hold 2 places"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[0.1, 0.4]])), "distances"),
    ],
)
def test_suspicious_input_warns(call, message):
    """Ids that never meet, a cutoff beyond the ranking or distances for scores would pass unnoticed."""
    with pytest.warns(UserWarning, match=message):
        call()


def test_low_ranked_overlap_does_not_warn():
    """A weak but sound ranking would be called a mismatch of ids because its hits lie beyond the cutoff."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(np.array([[1, 2]]), [{2: 1}], "recall@1").mean["recall@1"] == 0


def test_needs_numpy_alone():
    """Importing helpers.metrics would pull in a package besides numpy and the standard library."""
    code = (
        "import sys; before = set(sys.modules); import helpers.metrics\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    out = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert out.stdout.strip() == "['helpers', 'numpy']"
