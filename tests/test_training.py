"""The verdict on a change, and the evaluator for the trainer of sentence-transformers."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from helpers.data import load_dataset
from helpers.data.trec import write_qrels, write_run
from helpers.metrics import evaluate
from helpers.significance import change, minimum_detectable_difference, queries_needed
from helpers.training import RetrievalEvaluator, change_of_runs

ROOT = Path(__file__).parents[1]
QUERIES = {"q1": "good bread", "q2": "the cat", "q3": "a fish of the house"}
CORPUS = {"d1": "bread is good", "d2": "a cat", "d3": "the dog eat fish", "d4": "house"}
RELEVANT = {"q1": {"d1"}, "q2": {"d2"}, "q3": {"d3": 2, "d4": 1}}


def test_each_look_costs_some_of_the_level():
    """The best of ten looks would be called better as easily as the only one, or over an interval as narrow."""
    gains = np.random.default_rng(1).normal(0.03, 0.1, 60)
    once, often = (change(np.zeros(60), gains, 0.01, looks=looks) for looks in (1, 10))
    assert 0.005 < once.p_value == often.p_value < 0.05
    assert (once.verdict, often.verdict) == ("better", "cannot tell")
    for found, level in ((once, 0.95), (often, 0.995)):
        assert found[2:4] == pytest.approx(stats.ttest_1samp(gains, 0).confidence_interval(level))


def test_it_asks_for_the_queries_that_show_a_difference_of_the_margin():
    """Whoever follows the advice would see a real gain of the margin more rarely than four times in five."""
    pilot, margin = np.random.default_rng(2).normal(0, 0.2, 132), 0.03
    first = change(np.zeros(132), pilot, margin)
    assert first.verdict == "cannot tell"
    planned = queries_needed(margin, pilot.std(ddof=1), alpha=0.025)  # to test again is a second look
    assert 132 + first.more == pytest.approx(planned, abs=2)
    assert first.detectable == minimum_detectable_difference(pilot.std(ddof=1), 132)


def test_the_four_verdicts():
    """A verdict would not follow from its interval and p: up, down, within the margin, and too few queries to say."""
    spread = np.tile([-0.1, 0.1], 50)
    for effect, margin, expected in [
        (0.05, 0.01, "better"), (-0.05, 0.01, "worse"), (0.002, 0.03, "equal within the margin"),
        (0.0, 0.01, "cannot tell"),
    ]:  # fmt: skip
        found = change(np.zeros(100), spread + effect, margin)
        assert found.verdict == expected
        assert str(found).startswith(expected)
        assert (found.more > 0) == (expected == "cannot tell")
        assert found.difference == pytest.approx(effect)
        assert found.low < effect < found.high
    assert change(spread, spread, 0.01).verdict == "equal within the margin"


def test_two_run_files_with_numpy_alone(tmp_path, monkeypatch):
    """The verdict on two run files would need more than NumPy, or differ from that on the values."""
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {"d0": 1, "d1": 2} for i in range(30)}
    runs = [{q: dict(zip(["d0", "d1", "d2", "d3"], rng.random(4), strict=True)) for q in qrels} for _ in range(2)]
    write_qrels(tmp_path / "qrels", qrels)
    for name, run in zip("ab", runs, strict=True):
        write_run(tmp_path / name, run)
    then, now = (evaluate(run, qrels, "ndcg@10").per_query["ndcg@10"] for run in runs)
    for name in ("scipy", "pandas", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    found = change_of_runs(tmp_path / "a", str(tmp_path / "b"), tmp_path / "qrels", 0.02, looks=3)
    assert found == change(then, now, 0.02, looks=3)


ONE = {"q": {"d": 1.0}, "r": {"d": 1.0}}


@pytest.mark.parametrize(
    ("before", "after", "qrels", "message"),
    [
        (ONE, {"q": {"d": 1.0}}, {"q": ["d"]}, "1 queries are in one run alone, 'r' in the one before"),
        (ONE, ONE, {"q": ["d"], "s": ["d"]}, "1 judged queries are not in the runs, the first is 's'"),
        (ONE, {"q": {"d": float("nan")}, "r": {"d": 1.0}}, {"q": ["d"], "r": ["d"]}, "'q' is not a number"),
        (ONE, ONE, {"q": {"d": 0}, "r": {"d": 0}}, "No judged query has a relevant document"),
        (ONE, ONE, {}, "qrels is empty"),
    ],
)
def test_bad_runs_are_refused(before, after, qrels, message):
    """Other queries before and after, a missing one, NaN or no judged query would pass."""
    with pytest.raises(ValueError, match=message):
        change_of_runs(before, after, qrels, 0.01)


@pytest.mark.parametrize(("margin", "looks", "name"), [(0, 1, "margin"), (0.01, 0, "looks"), (0.01, 1.5, "looks")])
def test_a_margin_and_looks_must_make_sense(margin, looks, name):
    """A margin of 0, or half a look, would give a verdict."""
    with pytest.raises(ValueError, match=f"{name} must be"):
        change([0, 1], [1, 0], margin, looks=looks)


class Frozen:
    """A model without weights: the vectors of texts are drawn from a seed, or NaN."""

    similarity_fn_name = "dot"

    def __init__(self, seed, bad=False):  # noqa: D107
        self.seed, self.bad = seed, bad
        self.model_card_data = self

    def set_evaluation_metrics(self, *_, **__):
        """Keep nothing."""

    def similarity(self, a, b):
        """Return inner products."""
        return a @ b.T

    def encode_query(self, texts, **_):
        """Return a vector for each text."""
        import torch

        rows = np.stack([np.random.default_rng([self.seed, *text.encode()]).integers(-2, 3, 4) for text in texts])
        return torch.tensor(rows * (np.nan if self.bad else 1.0))

    encode_document = encode_query


def means(evaluator, metrics, look=-1):
    """Return the means by our conventions of the rankings that an evaluator kept."""
    return evaluate(evaluator.looks[look].run, evaluator.grades, metrics).mean


@pytest.mark.filterwarnings("ignore:No document of the run occurs")
def test_it_gives_its_parents_means():
    """Scores of random cases, ties among them, would differ from those of sentence-transformers."""
    rng, worst = np.random.default_rng(0), 0.0
    ours = {"success": "accuracy"} | {name: name for name in ("precision", "recall", "mrr", "ndcg", "map")}
    for case in range(60):
        corpus = {f"d{i}": f"text {rng.integers(10**6)}" for i in range(rng.integers(3, 30))}
        queries = {f"q{i}": f"query {rng.integers(10**6)}" for i in range(rng.integers(1, 6))}
        most = min(6, len(corpus))  # no more than k are relevant, where the conventions agree
        relevant = {q: set(rng.choice(list(corpus), rng.integers(1, most), replace=False)) for q in queries}
        k = int(rng.integers(6, 40))
        cut = {f"{name}_at_k": [k] for name in ("mrr", "ndcg", "accuracy", "precision_recall", "map")}
        evaluator = RetrievalEvaluator(queries, corpus, relevant, **cut)
        theirs = evaluator(Frozen(case))
        mean = means(evaluator, [f"{name}@{k}" for name in ours])
        worst = max(worst, *(abs(mean[f"{a}@{k}"] - theirs[f"dot_{b}@{k}"]) for a, b in ours.items()))
    assert worst < 1e-12


def test_it_says_where_conventions_differ():
    """A difference that the class names would not exist: grades in nDCG, and R for more relevant than the cutoff."""
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT, map_at_k=[1], ndcg_at_k=[10])
    theirs = evaluator(Frozen(3))
    assert means(evaluator, "ndcg@10")["ndcg@10"] != pytest.approx(theirs["dot_ndcg@10"])
    many = RetrievalEvaluator({"q": "x"}, CORPUS, {"q": set(CORPUS)}, map_at_k=[1])
    assert many(Frozen(0))["dot_map@1"] == 1
    assert means(many, "map@1")["map@1"] == 1 / len(CORPUS)


def test_bad_evaluators_are_one_line():
    """No judged query, a document without text, one look, or a model that gives NaN would end in a long traceback."""
    with pytest.raises(ValueError, match=r"No query has a relevant document: .*'q1'.*'x'"):
        RetrievalEvaluator(QUERIES, CORPUS, {"x": {"d1"}})
    with pytest.raises(ValueError, match="'d9', which is not in the corpus"):
        RetrievalEvaluator(QUERIES, CORPUS, {"q1": {"d9"}})
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT)
    with pytest.raises(ValueError, match="query 'q1' is NaN"):
        evaluator(Frozen(0, bad=True))
    with pytest.raises(ValueError, match="0 evaluations were made: call the evaluator before and after training"):
        evaluator.compare(margin=0.01)


def test_each_look_counts():
    """A tenth evaluation would be tested as if it were the only one."""
    evaluator = RetrievalEvaluator(QUERIES, CORPUS, RELEVANT)
    for seed in range(4):
        evaluator(Frozen(seed), epoch=seed)
    assert evaluator.compare(margin=0.01).looks == 3
    assert evaluator.compare(1, 2, margin=0.01, looks=10).looks == 10
    assert [look.epoch for look in evaluator.looks] == [0, 1, 2, 3]


def test_the_evaluator_of_a_collection():
    """Grades below the level of a collection, 2 for pocket-en, would count as relevant."""
    data = load_dataset("pocket-en").first(30)
    evaluator = RetrievalEvaluator.of(data)
    assert evaluator.relevant_docs == {
        q: {data.corpus_ids[r] for r in data.relevant(i)} for i, q in enumerate(data.query_ids)
    }


def test_the_lines_to_paste_train_a_model(tmp_path, monkeypatch, capsys):
    """The lines of the page would not run, or the trainer's scores would not be those of the weights as they were."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    from tests.checkpoints import save_checkpoint

    monkeypatch.chdir(tmp_path)
    model = SentenceTransformer(str(save_checkpoint(tmp_path / "model")), device="cpu")
    pairs = {"anchor": ["cat", "dog", "bread", "fish"] * 5, "positive": ["a cat", "the dog", "good", "eat"] * 5}
    arguments = SentenceTransformerTrainingArguments(
        "out", max_steps=10, per_device_train_batch_size=4, learning_rate=0.05, eval_strategy="steps", eval_steps=5,
        save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True,
    )  # fmt: skip
    training: dict[str, Any] = {
        "model": model, "args": arguments, "pairs": Dataset.from_dict(pairs),
        "loss": MultipleNegativesRankingLoss(model), "dev_queries": QUERIES, "test_queries": QUERIES, "corpus": CORPUS,
        "relevant_docs": {"q1": ["d1"], "q2": ["d2"], "q3": ["d3", "d4"]},
    }  # fmt: skip
    pages = [(ROOT / "docs" / language / "own_model.md").read_text(encoding="utf-8") for language in ("en", "zh")]
    blocks = [re.search(r"```python\n((?:(?!```).)*RetrievalEvaluator.*?)```", page, re.S)[1] for page in pages]
    codes = [re.sub(r" *#.*", "", block) for block in blocks]
    assert codes[0] == codes[1]
    exec(codes[0], training)
    dev, test, history = training["dev"], training["test"], training["trainer"].state.log_history
    assert capsys.readouterr().out.splitlines()[-1].startswith(test.compare(margin=0.02).verdict)
    assert [look.steps for look in dev.looks] == [5, 10]
    logged = [entry[key] for entry in history for key in entry if key == "eval_dev_cosine_ndcg@10"]
    assert logged == pytest.approx([means(dev, "ndcg@10", look)["ndcg@10"] for look in (0, 1)])
    assert dev.looks[1].run == test.looks[1].run != test.looks[0].run
    assert test.compare(margin=0.01).looks == 1
    with pytest.raises(ValueError, match="made at step 5: call the evaluator before training"):
        dev.compare(margin=0.01)
    assert dev.compare(0, 1, margin=0.01).n == 3
