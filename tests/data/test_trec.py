"""helpers.data.trec: what is written is read again, trec_eval's parser agrees, bad lines are named."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.data import trec
from helpers.data.runs import read_run_table
from tests.growth import assert_linear

ID = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\v\f\ufeff"), min_size=1, max_size=8)
SCORE = st.floats(allow_nan=False, allow_infinity=False)
QUERY = ID.filter(lambda name: not name.startswith("#"))  # such a line is a comment


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(QUERY, st.dictionaries(ID, st.integers(-2, 9), min_size=1), min_size=1))
@example({"q": {"d": 1}, "sep=": {"d": 2}})  # no line of Excel's
def test_qrels_round_trip(tmp_path_factory, qrels):
    """Judgements would change by writing and reading them."""
    path = tmp_path_factory.mktemp("trec") / "qrels"
    trec.write_qrels(path, qrels)
    assert trec.read_qrels(path) == qrels


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(QUERY, st.dictionaries(ID, SCORE, min_size=1), min_size=1))
def test_run_round_trip(tmp_path_factory, run):
    """A score would lose a bit by writing and reading it."""
    path = tmp_path_factory.mktemp("trec") / "run"
    trec.write_run(path, run, "mine")
    assert trec.read_run(path) == run


def test_run_is_written_in_trec_eval_order(tmp_path):
    """Ranks in the file would contradict the order in which trec_eval reads it: single precision, then ids."""
    trec.write_run(tmp_path / "run", {"p": {"d": 1}, "q": {"d1": 0.5 + 1e-12, "d9": 0.5, "d10": 0.75}}, "mine")
    lines = (tmp_path / "run").read_bytes().decode()
    assert lines == "p Q0 d 1 1.0 mine\nq Q0 d10 1 0.75 mine\nq Q0 d9 2 0.5 mine\nq Q0 d1 3 0.500000000001 mine\n"


def test_a_run_has_every_passage_but_the_padding():
    """The first passage of the corpus, row 0, would be taken for padding, or padding for a passage."""
    ids, scores = np.array([[2, 0, -1], [0, 1, 2]]), np.array([[0.75, 0.5, -9], [0.5, 0.25, 0.125]])
    assert trec.as_run(ids, scores) == {"0": {"2": 0.75, "0": 0.5}, "1": {"0": 0.5, "1": 0.25, "2": 0.125}}
    named = trec.as_run(ids[:1], scores[:1], ["q"], ["a", "b", "c"])
    assert named == {"q": {"c": 0.75, "a": 0.5}}


def test_the_largest_grade_is_read_and_no_larger_one(tmp_path):
    """A bound too low would refuse what trec_eval reads, one too high would let a grade overflow in it."""
    (tmp_path / "qrels").write_text("q1 0 d1 2147483647\nq1 0 d2 -0002147483647.0\n")
    assert trec.read_qrels(tmp_path / "qrels") == {"q1": {"d1": 2**31 - 1, "d2": -(2**31) + 1}}
    with pytest.raises(ValueError, match="whole number of 32 bits, not '2147483648'"):
        trec.read_grade("qrels, line 1", "2147483648")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\ufeffq1\t0\td1\t1\r\n\r\nq1  0  d\u00a02  0\r\n", {"q1": {"d1": 1, "d\u00a02": 0}}),
        ("q1 0 d1 1\rq2 0 d1 2\r", {"q1": {"d1": 1}, "q2": {"d1": 2}}),
        ("q1,d1,1\rq2, d1, 2\r", {"q1": {"d1": 1}, "q2": {"d1": 2}}),
        ("q1 d1 1\nq2 d1 2\nq1 d1 1\n", {"q1": {"d1": 1}, "q2": {"d1": 2}}),
        ("# pool of 2024\n1 0 CR9#7 1\n#\n# a comment\n2 0 #5 1", {"1": {"CR9#7": 1}, "2": {"#5": 1}}),
    ],
)
def test_other_line_forms_are_read(tmp_path, text, found):
    """Tabs, a byte order mark, line ends of an old Mac or exact repeats would be refused, or a comment be a query."""
    (tmp_path / "qrels").write_bytes(text.encode())
    assert trec.read_qrels(tmp_path / "qrels") == found


FOUR, THREE, NUMBER = r"4 fields \(query 0 document grade\)", r"3 fields \(query document grade\)", "a finite number"
BAD_QRELS = [
    ("q1 0 d1 1\nq1 0 d2\n", f", line 2: expected {FOUR}, found 3"),
    ("q1 0 d1 1\nq1 0 d2 1.5\n", ", line 2: the grade must be a whole number of 32 bits, not '1.5'"),
    ("q1 0 d1 1\nq1 0 d2 1_0\n", ", line 2: the grade"),
    ("q1 0 d1 1\nq1 0 d1 0\n", ", line 2: document 'd1' is judged twice for query 'q1'"),
    ("q1 0 d1 1\nq1 0 d\udcff 1\n", ", line 2: not UTF-8"),
    ("", ": no judgements, the file is empty"),
    ("qid\tpid\tgrade\n", ": no rows, only the columns 'qid', 'pid', 'grade'"),
    ("q1,d1,1\nq1,d2\n", f", line 2: expected {THREE}, found 2"),
    ("qid\tpid\tgrade\nq1\td1\n", r", line 2: 2 of 3 fields \('qid', 'pid', 'grade'\)"),
    ("qid\tpid\tgrade\nq1\t\t1\n", ", row 1: no document"),
    ("q1\t\t1\n", ", line 1: expected 3 fields"),
    ("q1\n", f", line 1: expected {FOUR}, found 1"),
]
BAD_RUNS = [
    ("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.5\n", ", line 2: expected 6 fields"),
    ("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 nan tag\n", f", line 2: the score must be {NUMBER}, not 'nan'"),
    ("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 1_0 tag\n", ", line 2: the score"),
    (
        "# a\n\nq1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.5 t\nq1 Q0 d1 2 0.4 tag\n",
        ", line 5: document 'd1' is retrieved twice for query 'q1'",
    ),
    ('{"q1": {"d1": 0.5, "d2": 0.4, "d3": 0.1}}', ", line 1: expected 6 fields .*, it looks like JSON; .*write_run"),
    ("q1 Q0 d1 1 0.5 \udcff\nq1 Q0 \udcff 2 high tag\n", ", line 1: not UTF-8"),
]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [(trec.read_qrels, *case) for case in BAD_QRELS] + [(trec.read_run, *case) for case in BAD_RUNS],
)
def test_bad_lines_are_named(tmp_path, read, text, message):
    """A malformed line would be skipped or reported without file and line number."""
    (tmp_path / "file").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=f"^'file'{message}"):
        read(tmp_path / "file")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: trec.write_run(path, {"q 1": {"d": 1.0}}), "no blanks"),
        (lambda path: trec.write_run(path, {"#q": {"d": 1.0}}), "begins with # is a comment"),
        (lambda path: trec.write_qrels(path, {"#": {"d": 1}}), "begins with # is a comment"),
        (lambda path: trec.write_run(path, {"q": {"d": float("nan")}}), "must be finite"),
        (lambda path: trec.write_qrels(path, {"q": {"": 1}}), "not be empty"),
        (lambda path: trec.as_run(np.array([[0.5]]), np.array([[1]])), "in that order"),
        (lambda path: trec.as_run(np.array([[1, 1]]), np.array([[0.5, 0.4]])), "retrieved twice"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(tmp_path, call, message):
    """A file would be written that reads back as something else."""
    with pytest.raises(ValueError, match=message):
        call(tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_run_is_read_as_trec_eval_reads_it(tmp_path):
    """Comments, further fields or a packed file would be refused, or a comment of six words be a retrieved document."""
    text = "\ufeff# my run, six words long here\nq1\tQ0 a#1 1 2.5 t and more\r\n\nq0 Q0 b 1 -1e3 t\nq1 Q0 c 0x 1 t"
    for name, content in {"run": text.encode(), "run.gz": gzip.compress(text.encode())}.items():
        (tmp_path / name).write_bytes(content)
        assert trec.read_run(tmp_path / name) == {"q1": {"a#1": 2.5, "c": 1.0}, "q0": {"b": -1000.0}}
        assert read_run_table(tmp_path / name).sha256 == hashlib.sha256(content).hexdigest()
    (tmp_path / "run.gz").write_bytes(gzip.compress(text.encode())[:-20])
    with pytest.raises(ValueError, match=r"'run\.gz' cannot be unpacked"):
        trec.read_run(tmp_path / "run.gz")


@pytest.mark.parametrize(
    ("lines", "rising"),
    [
        ("q 1 2.0, q 2 3.0, p 1 1.0, p 2 0.5", 1),
        ("q 2 3.0, p 1 1.0, q 1 2.0, p 2 0.5", 1),  # the lines of a query apart, not in the order of its ranks
        ("q 1 2.0, q 2 2.0", 0),
        ("q 1 1.0, q 2 2.0, q 3 1.5", 0),
        ("q 0 1.0, q 0 2.0", 0),  # all ranks 0, as BEIR writes them: the order of the lines says nothing
        ("q a 1.0, q b 2.0", 0),
        ("q 1 3.0", 0),
    ],
)
def test_scores_that_rise_with_the_rank_are_counted(tmp_path, lines, rising):
    """A run of distances would be scored upside down without a word; or a run without ranks be called one."""
    rows = [f"{query} Q0 d{n} {rank} {score} t\n" for n, line in enumerate(lines.split(", "))
            for query, rank, score in [line.split()]]  # fmt: skip
    (tmp_path / "run").write_text("".join(rows))
    assert read_run_table(tmp_path / "run").rising == rising


def test_a_larger_run_takes_as_much_more_memory_and_work(tmp_path):
    """A run of MS MARCO dev would take an hour, or more memory than a laptop has."""

    def reading(queries: int) -> Callable[[], object]:
        lines = (f"q{q} Q0 d{(q * 7 + d) % 900} {d} {100 - d / 7} t\n" for q in range(queries) for d in range(100))
        (tmp_path / f"{queries}.run").write_text("".join(lines))
        return lambda: read_run_table(tmp_path / f"{queries}.run")

    assert_linear(reading, 20)


@pytest.mark.parametrize(
    "text",
    [
        "\ndoc_id, query_id, label\nd1, q1, 2\n",
        "Query ID;Doc ID;Relevance;2024\nq1;d1;2;5\n",
        "topic\titeration\tdocument\tjudgement\n q1\t0\td1 \t2\n",
        "relevance\tassessor\tquery_id\ttime\tdoc_id\n2\t1\tq1\t5\td1\n",
    ],
)
@pytest.mark.filterwarnings("ignore:.*not used")
def test_a_header_says_which_column_is_which(tmp_path, text):
    """By position a document would be taken from the column of grades: whole numbers all, so that nothing objects."""
    (tmp_path / "a.csv").write_text(text)
    assert trec.read_qrels(tmp_path / "a.csv") == {"q1": {"d1": 2}}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("q,d,r", ", line 1: the grade must be a whole number of 32 bits, not 'r'"),
        ("pid,qid,rating", ": no column 'grade'; it has 'pid', 'qid', 'rating'"),
        ("qid,pid,pid", r" names 1 column\(s\) twice, first 'pid'"),
    ],
)
def test_a_header_that_does_not_tell_the_columns_is_refused(tmp_path, header, message):
    """The columns would be guessed."""
    (tmp_path / "a.csv").write_text(f"{header}\nq1,d1,2\n")
    with pytest.raises(ValueError, match=f"'a.csv'{message}"):
        trec.read_qrels(tmp_path / "a.csv")
