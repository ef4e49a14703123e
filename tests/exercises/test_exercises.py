"""Exercises that answer: right answers pass in whatever style, and each known mistake gets its own sentence."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import helpers.exercises
from helpers.exercises import EXERCISES, check
from helpers.exercises.inputs import ARGUMENTS, INPUTS
from notebooks.kit.notebooks import ROOT, lesson_path, read
from tests.exercises._answers import RIGHT, WRONG
from tests.metrics.samples import gallery

pytestmark = pytest.mark.filterwarnings("ignore:No document of the run:UserWarning")
WORDS = {
    language: tomllib.loads(files(helpers.exercises).joinpath(f"words/{language}.toml").read_text(encoding="utf-8"))
    for language in ("en", "zh")
}


@pytest.mark.parametrize(
    ("exercise", "style"), [(name, style) for name in EXERCISES for style in range(len(RIGHT[name]))]
)
def test_right_answers_pass_in_whatever_style(exercise: str, style: int):
    """A reader whose function equals trec_eval's, scikit-learn's or SciPy's would be sent away."""
    verdict = check(exercise, RIGHT[exercise][style])
    assert verdict.right, verdict
    assert verdict.mistake is None
    assert repr(verdict) == f"{exercise}: right, on all 60 inputs."


@pytest.mark.parametrize("exercise", EXERCISES)
def test_five_known_mistakes_each_have_their_own_name(exercise: str):
    """A wrong formula would pass, or get another's name, because the inputs do not tell the two apart."""
    mistakes = EXERCISES[exercise].mistakes
    assert len(mistakes) >= 5
    for name, formula in mistakes.items():
        for language, words in WORDS.items():
            verdict = check(exercise, formula, language=language)
            assert (verdict.right, verdict.mistake) == (False, name)
            assert words["mistakes"][name] in repr(verdict)


def test_the_verdict_is_in_the_language_of_the_reader(monkeypatch):
    """A Chinese reader would have to ask for Chinese each time."""
    monkeypatch.setenv("EVAL_LANGUAGE", "zh")
    assert repr(check("recall", RIGHT["recall"][0])) == WORDS["zh"]["right"].format(exercise="recall", inputs=60)


@pytest.mark.parametrize(("exercise", "mistake"), [(name, key) for name in WRONG for key in WRONG[name]])
def test_wrong_answers_are_named(exercise: str, mistake: str):
    """A reader's own form of a known mistake would get no hint, or another mistake's."""
    assert check(exercise, WRONG[exercise][mistake]).mistake == mistake


def test_every_sentence_is_there_in_both_languages_and_used():
    """A Chinese reader would get a KeyError, or words.toml would keep sentences of mistakes that nothing looks for."""
    known = {name for exercise in EXERCISES.values() for name in exercise.mistakes}
    assert set(WORDS["en"]["mistakes"]) == set(WORDS["zh"]["mistakes"]) == known
    assert set(WORDS["en"]) == set(WORDS["zh"])
    assert all(re.search("[\u4e00-\u9fff]", text) for text in WORDS["zh"]["mistakes"].values())


@pytest.mark.parametrize(
    ("exercise", "function", "mistake"),
    [
        ("recall", "recall_over_min", "capped_recall"),
        ("average_precision", "ap_over_hits", "ap_over_hits"),
        ("average_precision", "ap_over_min", "ap_over_min"),
        ("mean_recall", "recall_of_answered", "mean_of_answered"),
    ],
)
def test_the_gallery_of_lesson_02_is_recognised(exercise: str, function: str, mistake: str):
    """The published mistakes are the catalogue of hints: one of them would pass, or remain without its name."""
    theirs = gallery(read(lesson_path(ROOT, "en", "02_metrics")))[function]
    if exercise == "mean_recall":
        answer = lambda run, qrels, k: theirs([run.get(q, []) for q in qrels], [*map(list, qrels.values())], k)  # noqa: E731
    else:
        answer = lambda retrieved, relevant, k: theirs([retrieved], [relevant], k)[0]  # noqa: E731
    assert check(exercise, answer).mistake == mistake


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
    assert check("recall", RIGHT["recall"][0]).right


def test_the_shortest_input_that_fails_is_shown():
    """The reader would have to work out a ranking of twelve with a pencil."""
    kind, right, _ = EXERCISES["recall"]
    shortest = min((case for case in INPUTS[kind] if right(*case) != 0.123), key=lambda case: len(repr(case)))
    shown = ", ".join(f"{name}={value!r}" for name, value in zip(ARGUMENTS[kind], shortest, strict=True))
    assert f"for {shown}. Work" in check("recall", lambda *arguments: 0.123).text


def test_close_numbers_are_equal_and_others_are_not():
    """Another order of summation would be called wrong, or a value rounded to six places right."""
    right = RIGHT["average_precision"][1]
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
