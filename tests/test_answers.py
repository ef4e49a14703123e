"""Tables of answers: read, counted, judged twice and corrected; the bundled ones whole."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers.answers import BUNDLED, VERDICTS, answer_table, contexts, correct, difference, judges, load_answers
from helpers.chunks import as_collection, cut, evidence, token_starts, tokens
from helpers.data.bundled import FOLDER
from helpers.data.spans import load_spans
from helpers.systems import rank

CSV = """query,system,verdict,second,careful,nuggets,support
1,a,correct,correct,correct,1,1
1,b,Wrong,partly,,0,0
2,a,correct,wrong,partly,0.5,
2,b,refused,refused,refused,0,
3,a,partly,partly,,0.5,0.5
3,b,correct,correct,correct,1,1
"""


@pytest.fixture
def answers(tmp_path) -> pd.DataFrame:
    """The table above, from a file."""
    (tmp_path / "answers.csv").write_text(CSV, encoding="utf-8")
    return load_answers(tmp_path / "answers.csv")


def test_a_table_by_hand(answers):
    """A share would count the answers of another system, or an empty support as none."""
    table = answer_table(answers)
    assert table.loc["a", ["answers", "correct", "partly", "wrong", "refused"]].tolist() == [3, 2 / 3, 1 / 3, 0, 0]
    assert table.loc["b", ["correct", "partly", "wrong", "refused"]].tolist() == [1 / 3, 0, 1 / 3, 1 / 3]
    assert table["support"].tolist() == [0.75, 0.5]
    assert table["nuggets"].tolist() == pytest.approx([2 / 3, 1 / 3])
    low, high = table.loc["a", ["low", "high"]]
    assert 0.2 < low < 2 / 3 < high < 1
    assert correct(answers, "careful")["b"].isna().tolist() == [True, False, False]


def test_two_judges_and_a_careful_one(answers):
    """The careful judge would correct with questions of which he saw one answer alone, or by one judge of two."""
    found = difference(answers, "a", "b")
    assert [found[judge].mean for judge in ("verdict", "second")] == pytest.approx([1 / 3, 0])
    # on question 2 he sees no difference, where the quick ones see 1 and 0: 1/6 - (1/2) / 1 of the only common one
    assert "corrected" not in found
    answers.loc[(answers["query"].astype(str) == "3") & (answers["system"] == "a"), "careful"] = "correct"
    found = difference(answers, "a", "b")
    # quick: 1, 0.5, -1, mean 1/6; careful on questions 2 and 3: 0 and 0, errors -0.5 and 1, mean 0.25
    assert found["corrected"].mean == pytest.approx(1 / 6 + 0.25)
    agreed = judges(answers)
    assert (agreed.pairs, np.trace(agreed.table)) == (6, 5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("verdict", "grade", "no column 'verdict'; it has 'query', 'system', 'grade'"),
        ("2,b,refused", "2,b,maybe", "row 4: verdict is 'maybe'; expected refused, wrong, partly, correct"),
        ("2,b,refused", "2,b,", "row 4: verdict is ''"),
        ("correct,wrong,partly", "correct,false,partly", "row 3: second is 'false'"),
        ("0.5,\n", "50,\n", "nuggets has values outside 0 to 1"),
    ],
)
def test_what_is_no_verdict_is_refused(tmp_path, old, new, message):
    """A misspelt verdict would count as not correct, or a percentage as a share, and nobody would see it."""
    (tmp_path / "answers.csv").write_text(CSV.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_answers(tmp_path / "answers.csv")


def test_an_answer_written_twice_is_named(answers):
    """Somebody with several runs under one name would get pandas' words, or one of the runs."""
    with pytest.raises(ValueError, match=r"System 'a' has several answers to query .1.: give each run a name"):
        difference(pd.concat([answers, answers[:1]]), "a", "b")
    del answers["careful"]
    assert list(difference(answers, "a", "b")) == ["verdict", "second"]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_answers_are_whole(name):
    """An answer would lack a judge, cite a passage that was not handed over, or be given more than the budget."""
    data, frame = load_spans(BUNDLED[name]), load_answers(name)
    real, removed = frame[frame["answerable"]], frame[~frame["answerable"]]
    assert len(real) == 5 * len(data.queries)
    assert len(removed) == 3 * removed["query"].nunique() == 45
    assert frame["verdict"].isin(VERDICTS).all()
    assert frame["second"].isin(VERDICTS).all()
    sampled = frame[frame["careful"] != ""]
    assert all(sorted(systems) == ["paragraphs", "windows"] for _, systems in sampled.groupby("query")["system"])
    assert sampled["query"].nunique() == 30
    for context in frame["context"]:
        texts = [data.documents[span.document][span.start : span.end] for span in context]
        assert sum(len(token_starts(text)) for text in texts) <= 400
    for line in (FOLDER / name / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        cited = {number for _, numbers in answer["sentences"] for number in numbers}
        assert cited <= set(range(1, len(answer["context"]) + 1))
    row_of = {query: row for row, query in enumerate(data.query_ids)}
    for query, context in zip(removed["query"], removed["context"], strict=True):
        for chunk in context:
            spans = [span for span in data.spans[row_of[query]] if span.document == chunk.document]
            assert not any(span.start < chunk.end and chunk.start < span.end for span in spans)
    orders = [contexts(real, system, data) for system in ("paragraphs", "reversed")]
    assert orders[1] == [context[::-1] for context in orders[0]]
    recall = [evidence(data, order, 400)["recall"].tolist() for order in orders]
    assert recall[0] == recall[1]


@pytest.mark.parametrize("name", BUNDLED)
def test_what_was_handed_over_is_rebuilt(name):
    """The card would describe another retrieval than the one that handed over the windows."""
    data, frame = load_spans(BUNDLED[name]), load_answers(name)
    chunks = cut(data, tokens(100))
    ranking = rank("BM25", as_collection(data, chunks), 100)
    given = contexts(frame[frame["answerable"]], "windows", data)
    for ids, context in zip(ranking.ids, given, strict=True):
        ranked = [chunks[row] for row in ids[: len(context)]]
        assert context[:-1] == ranked[:-1]
        assert context[-1][:2] == ranked[-1][:2]
        assert context[-1].end <= ranked[-1].end
