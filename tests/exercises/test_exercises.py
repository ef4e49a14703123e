"""Exercises that answer: right answers pass, and each known mistake gets its own sentence."""

import re
import tomllib
from importlib.resources import files
from math import log2
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import cohen_kappa_score

import helpers.exercises
from helpers import plain
from helpers.exercises import EXERCISES, check, same
from helpers.exercises.inputs import ARGUMENTS, INPUTS
from helpers.metrics import evaluate
from helpers.significance import paired_test

pytestmark = pytest.mark.filterwarnings("ignore:No document of the run:UserWarning")
WORDS = {
    language: tomllib.loads(files(helpers.exercises).joinpath(f"words/{language}.toml").read_text(encoding="utf-8"))
    for language in ("en", "zh")
}


def scored(name):
    """An answer of the package itself, on one query."""

    def answer(retrieved, judged, *cutoff):
        metric = "@".join([name, *map(str, cutoff)])
        return evaluate([retrieved], [judged if isinstance(judged, dict) else list(judged)], metric).mean[metric]

    return answer


def averaged(name):
    """An answer of the package itself, on several queries."""
    return lambda run, qrels, k: evaluate(run, qrels, f"{name}@{k}").mean[f"{name}@{k}"]


RIGHT = {
    **{name: scored(name) for name in ("recall", "capped_recall", "precision", "success", "rbp", "rbp_residual",
                                       "ndcg", "judged", "bpref")},
    "reciprocal_rank": scored("mrr"),
    "average_precision": scored("map"),
    "r_precision": scored("rprec"),
    "dcg": lambda r, g, k: plain.dcg(g.get(doc, 0) for doc in r[:k]),
    "ideal_dcg": lambda r, g, k: plain.dcg(np.sort([*g.values()])[::-1][:k]),
    "ndcg_exponential": scored("ndcg(gain=exponential)"),
    "mean_recall": averaged("recall"),
    "mrr": averaged("mrr"),
    "ranking": plain.ranked,
    "documents": lambda chunks, k: list(dict.fromkeys(chunk.partition("#")[0] for chunk in chunks))[:k],
    "kappa": cohen_kappa_score,
    "tau": lambda a, b: scipy.stats.kendalltau(a, b).statistic,
    "pool": lambda rankings, depth: set(np.array([*rankings.values()])[:, :depth].flat),
    "condensed": lambda r, g: np.array(r)[np.isin(r, [*g])],
    "bonferroni": lambda p: np.minimum(len(p) * np.array(p), 1),
    "search": lambda q, p, k: np.argsort(-(np.array(p) @ q))[:k],
    "paired_test": lambda a, b: paired_test(a, b).p_value,
}  # fmt: skip

L3, L5, L6 = log2(3), log2(5), log2(6)
SHORT, GRADES = list("xabyc"), {"a": 1, "b": 3, "y": 0, "c": 2, "d": 2, "e": 1}
RUN, QRELS = {"q1": ["a", "x"], "q2": ["x", "b"], "q9": ["a"]}, {"q1": set("abcd"), "q2": {"b"}, "q3": {"c"}}
BY_HAND = [  # the wrong formulas: an exercise, arguments, and what each mistake gives for them
    ("recall", (SHORT, set("abcdefg"), 6), {  # hits at the ranks 2, 3 and 5; R is 7
        "capped_recall": 3 / 6, "precision": 3 / 6, "precision_of_shown": 3 / 5, "hits": 3, "success": 1,
        "first_place": 0, "reciprocal_rank": 1 / 2, "last_rank": 1 / 5, "first_rank": 2,
        "average_precision": (1 / 2 + 2 / 3 + 3 / 5) / 7, "ap_over_hits": (1 / 2 + 2 / 3 + 3 / 5) / 3,
        "ap_over_min": (1 / 2 + 2 / 3 + 3 / 5) / 6, "ap_over_k": (1 / 2 + 2 / 3 + 3 / 5) / 6,
        "rbp": 0.2 * (0.8 + 0.64 + 0.8**4), "rbp_without_factor": 0.8 + 0.64 + 0.8**4,
        "rbp_swapped": 0.8 * (0.2 + 0.04 + 0.2**4), "no_cutoff": 3 / 7, "one_short": 3 / 7}),
    ("recall", (["a"], {"a"}, 1), {"one_short": 0, "first_place": 1}),
    ("precision", (SHORT, {"a", "b"}, 3), {
        "recall": 1, "capped_recall": 1, "precision_of_shown": 2 / 3, "no_cutoff": 2 / 99, "one_short": 1 / 2}),
    ("ndcg", (SHORT, GRADES, 3), {  # grades 0, 1 and 3, then 0 and 2
        "dcg": 1 / L3 + 3 / 2, "dcg_exponential": 1 / L3 + 7 / 2, "dcg_old_discount": 1 + 3 / L3,
        "dcg_by_rank": 1 / 2 + 1, "cumulative_gain": 4, "ideal_dcg": 3 + 2 / L3 + 1, "ideal_of_retrieved": 3 + 1 / L3,
        "ideal_exponential": 7 + 3 / L3 + 3 / 2, "ndcg_of_retrieved": (1 / L3 + 3 / 2) / (3 + 1 / L3),
        "ndcg_of_all_retrieved": (1 / L3 + 3 / 2) / (3 + 2 / L3 + 1 / 2),
        "ndcg_ideal_uncut": (1 / L3 + 3 / 2) / (3 + 2 / L3 + 1 + 1 / L5 + 1 / L6),
        "ndcg_binary": (1 / L3 + 1 / 2) / (1 + 1 / L3 + 1 / 2), "ndcg_old_discount": (1 + 3 / L3) / (5 + 2 / L3),
        "ndcg_exponential": (1 / L3 + 7 / 2) / (7 + 3 / L3 + 3 / 2),
        "ndcg_mixed": (1 / L3 + 7 / 2) / (3 + 2 / L3 + 1)}),
    ("judged", (SHORT, GRADES, 6), {
        "judged_over_k": 4 / 6, "relevant_share": 3 / 5, "unjudged": 1 / 5, "rbp": 0.2 * (0.8 + 0.64 + 0.8**4),
        "rbp_residual": 1 - 0.2 * (0.8 + 0.64 + 0.8**3 + 0.8**4), "residual_without_tail": 0.2,
        "residual_of_rbp": 1 - 0.2 * (0.8 + 0.64 + 0.8**4)}),
    ("r_precision", (list("axb"), set("abcd")), {
        "no_cutoff": 2 / 4, "precision_of_shown": 2 / 3, "precision_at_ten": 2 / 10, "success": 1,
        "average_precision": (1 + 2 / 3) / 4}),
    ("mean_recall", (RUN, QRELS, 2), {  # 1/4, 1 and 0; the judgements of q9 are not known
        "mean_of_answered": 5 / 8, "mean_over_run": 5 / 12, "mean_over_all": 5 / 16, "median": 1 / 4, "sum": 5 / 4,
        "recall_of_pairs": 2 / 6}),
    ("mrr", (RUN, QRELS, 2), {
        "mean_of_answered": 3 / 4, "mean_over_all": 3 / 8, "sum": 3 / 2, "over_mean_rank": 2 / 3}),
    ("ranking", ({"9": 0.5, "10": 0.5, "8": 0.7, "11": 0.1},), {
        "as_listed": ["8", "9", "10", "11"], "ids_ascending": ["8", "10", "9", "11"],
        "ids_as_numbers": ["8", "10", "9", "11"], "worst_first": ["11", "10", "9", "8"],
        "unsorted": ["9", "10", "8", "11"]}),
    ("documents", (["b#1", "b#2", "a#1", "c#1"], 2), {
        "cut_first": ["b"], "alphabetical": ["a", "b"], "repeats": ["b", "b"], "no_cutoff": ["b", "a", "c"]}),
    ("kappa", ([1, 1, 0, 0, 0], [1, 0, 0, 0, 0]), {
        "agreement": 4 / 5, "chance_is_half": 0.3 / 0.5, "chance_of_relevant": (0.8 - 0.08) / 0.92,
        "one_distribution": (0.8 - 0.58) / 0.42}),
    ("tau", ([1, 2, 3], [1, 3, 2]), {"kept_share": 2 / 3, "swapped_share": 1 / 3, "tau_reversed": -1 / 3}),
    ("pool", ({"x": list("abc"), "y": list("bda")}, 2), {
        "intersection": {"b"}, "no_cutoff": set("abcd"), "one_short": {"a", "b"}}),
    ("condensed", (list("xaby"), {"a": 1, "b": 0}), {
        "relevant_only": ["a"], "unjudged_last": list("abxy"), "gaps": [None, "a", "b", None],
        "unjudged_only": list("xy")}),
    ("bpref", (list("naumb"), {"a": 1, "b": 1, "c": 1, "n": 0, "m": 0}), {  # R is 3, N is 2
        "bpref_of_paper": (2 / 3 + 1 / 3) / 3, "bpref_unjudged": (1 / 2 - 1 / 2) / 3, "bpref_of_retrieved": 1 / 4,
        "sum": 1 / 2}),
    ("bpref", (list("nmob"), {"b": 1, "n": 0, "m": 0, "o": 0}), {"bpref_uncapped": 1 - 3}),
    ("bonferroni", ([0.25, 0.75],), {"above_one": [0.5, 1.5], "divided": [0.125, 0.375], "uncorrected": [0.25, 0.75]}),
    ("search", ([1, 1], [[1, 0], [2, 2], [0, 3]], 2), {
        "no_cutoff": [1, 2, 0], "one_short": [1], "worst_first": [0, 2], "scores_returned": [4, 3],
        "rank_of_each": [2, 0]}),
    ("paired_test", ([1, 1, 0, 1], [0, 0, 1, 1]), {  # the sums of eight patterns: 3, -3, and 1 and -1 three times each
        "one_sided": 4 / 8, "without_the_observed": 2 / 8, "share_of_wins": 2 / 4, "mean_difference": 1 / 4}),
]  # fmt: skip


@pytest.mark.parametrize("exercise", EXERCISES)
def test_right_answers_pass(exercise: str):
    """A reader whose function equals trec_eval's, scikit-learn's or SciPy's would be sent away."""
    verdict = check(exercise, RIGHT[exercise], language="en")
    assert verdict.right, verdict
    assert verdict.mistake is None
    assert repr(verdict) == f"{exercise}: right, on all 60 inputs."


@pytest.mark.parametrize(("exercise", "arguments", "values"), BY_HAND)
def test_wrong_formulas_by_hand(exercise: str, arguments: tuple, values: dict[str, object]):
    """A hint would be given for another formula than the one its sentence names."""
    given = {name: EXERCISES[exercise].mistakes[name](*arguments) for name in values}
    assert [name for name in values if not same(given[name], values[name])] == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_known_mistakes_each_have_their_own_name(exercise: str):
    """A wrong formula would pass, or get another's name, because the inputs do not tell the two apart."""
    mistakes = EXERCISES[exercise].mistakes
    assert len(mistakes) >= 3
    for name, formula in mistakes.items():
        for language, words in WORDS.items():
            verdict = check(exercise, formula, language=language)
            assert (verdict.right, verdict.mistake) == (False, name)
            assert words["mistakes"][name] in repr(verdict)


def test_the_verdict_is_in_the_language_of_the_reader(monkeypatch):
    """A Chinese reader would have to ask for Chinese each time."""
    monkeypatch.setenv("EVAL_LANGUAGE", "zh")
    assert repr(check("recall", RIGHT["recall"])) == WORDS["zh"]["right"].format(exercise="recall", inputs=60)


def test_every_sentence_is_there_in_both_languages_and_used():
    """A Chinese reader would get a KeyError, or words.toml would keep sentences of mistakes that nothing looks for."""
    known = {name for exercise in EXERCISES.values() for name in exercise.mistakes}
    assert set(WORDS["en"]["mistakes"]) == set(WORDS["zh"]["mistakes"]) == known
    assert set(WORDS["en"]) == set(WORDS["zh"])
    assert all(re.search("[\u4e00-\u9fff]", text) for text in WORDS["zh"]["mistakes"].values())


def test_a_mistake_is_named_although_the_function_raises_on_some_inputs():
    """The usual form of a mistake divides by zero hits: its reader would learn only that."""

    def over_hits(retrieved, relevant, k):
        ranks = [rank for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant]
        return sum(so_far / rank for so_far, rank in enumerate(ranks, 1)) / len(ranks)

    verdict = check("average_precision", over_hits)
    assert verdict.mistake == "ap_over_hits"
    assert "ZeroDivisionError" in verdict.text


def test_a_right_answer_that_raises_on_some_inputs_is_not_right():
    """A function that works until a ranking has no relevant document would pass."""

    def no_default(retrieved, relevant, k):
        return 1 / min(rank for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant)

    verdict = check("reciprocal_rank", no_default)
    assert (verdict.right, verdict.mistake) == (False, None)
    assert "It raises ValueError: " in verdict.text
    assert WORDS["en"]["value"].split("{")[0] not in verdict.text


@pytest.mark.parametrize(
    ("exercise", "returned", "sentence"),
    [
        ("recall", None, "It returns None, which is not a number."),
        ("recall", "0.5", "It returns 0.5, which is not a number."),
        ("recall", [0.5], "It returns [0.5], which is not a number."),
        ("pool", ["d1"], "It returns ['d1'], which is not a set."),
        ("documents", {"d1"}, "It returns {'d1'}, which is not a list."),
        ("documents", "d1", "It returns d1, which is not a list."),
        ("bonferroni", 0.5, "It returns 0.5, which is not a list."),
        ("recall", float("nan"), "It returns nan for retrieved="),
        ("recall", 0.123, "It returns 0.123 for retrieved="),
    ],
)
def test_what_is_no_answer_gets_a_sentence(exercise: str, returned: object, sentence: str):
    """A body without `return`, or a value of the wrong type, would end in a traceback or be called a wrong formula."""
    verdict = check(exercise, lambda *arguments: returned)
    assert (verdict.right, verdict.mistake) == (False, None)
    assert sentence in verdict.text


@pytest.mark.parametrize("exercise", ["average_precision", "ndcg", "rbp_residual", "kappa", "bpref"])
def test_the_right_value_is_not_given_away(exercise: str):
    """A hint that contains the right value would be the solution for the reader who is to work it out."""
    arguments, right, _ = EXERCISES[exercise]
    text = check(exercise, lambda *arguments: 0.123).text
    (value,) = [right(*case) for case in INPUTS[arguments] if all(f"={value!r}" in text for value in case)]
    assert f"{value:.3f}" not in text


def test_an_answer_may_change_its_arguments():
    """A reader who sorts or empties the list would spoil the inputs of every check that follows."""

    def emptied(retrieved, relevant, k):
        top = [retrieved.pop(0) for _ in range(min(k, len(retrieved)))]
        value = len(relevant & set(top)) / len(relevant)
        relevant.clear()
        return value

    assert check("recall", emptied).right
    assert check("recall", RIGHT["recall"]).right


def test_the_shortest_input_that_fails_is_shown():
    """The reader would have to work out a ranking of twelve with a pencil."""
    kind, right, _ = EXERCISES["recall"]
    shortest = min((case for case in INPUTS[kind] if right(*case) != 0.123), key=lambda case: len(repr(case)))
    shown = ", ".join(f"{name}={value!r}" for name, value in zip(ARGUMENTS[kind], shortest, strict=True))
    assert f"for {shown}. Work" in check("recall", lambda *arguments: 0.123).text


def test_close_numbers_are_equal_and_others_are_not():
    """Another order of summation would be called wrong, or a value rounded to six places right."""
    right = RIGHT["average_precision"]
    assert check("average_precision", lambda *arguments: right(*arguments) + 9e-10).right
    assert not check("average_precision", lambda *arguments: right(*arguments) + 2e-9).right
    assert not check("average_precision", lambda *arguments: round(right(*arguments), 6)).right


def test_unknown_names_are_refused():
    """A misspelt exercise would end in a KeyError, a language without words in a missing file."""
    with pytest.raises(ValueError, match="there is no exercise 'recal', only recall, capped_recall, "):
        check("recal", len)
    with pytest.raises(ValueError, match='language must be "en" or "zh", not \'de\''):
        check("recall", len, language="de")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_lists_every_exercise_with_its_arguments(language: str):
    """A reader would write a function of other arguments than the check passes, or never learn of an exercise."""
    page = (Path(__file__).parents[2] / "docs" / language / "teaching.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)\(([\w, ]+)\)` \|", page, re.MULTILINE)
    assert dict(listed) == {name: ", ".join(ARGUMENTS[EXERCISES[name].arguments]) for name in EXERCISES}
    example = next(code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def precision" in code)
    names: dict = {}
    exec(example, names)
    assert check("precision", names["precision"]).mistake == "precision_of_shown"
