"""The widget "Try the metrics" without a browser: its JavaScript in node, against the package.

Needs node: without it the tests are skipped and say so, or fail where EVAL_BROWSER is `required`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from helpers import significance
from helpers.data.trec import read_qrels, read_run
from helpers.metrics import evaluate
from helpers.metrics.qrels import Judgements
from helpers.significance import bootstrap_interval, interval

METRICS = ["recall", "capped_recall", "precision", "success", "mrr", "map", "ndcg", "rbp"]
SCORE = """
import { METRICS, evaluate, find, ordered } from "./try/metrics.js";
const scored = JSON.parse(text).map(({ docs, scores, judged, k, level, gain, persistence }) => {
  const hits = find(scores ? ordered(docs, scores) : docs, new Map(judged), level);
  return Object.values(METRICS).map((metric) => metric(hits, k, { gain, persistence }).value);
});
"""
READ = """
import { read } from "./score/trec.js";
const plain = (table) => [...table].map(([query, docs]) => [query, [...docs]]);
const attempt = (read) => {
  try { return plain(read()); } catch (fault) { return [fault.box, fault.line, fault.key]; }
};
const scored = JSON.parse(text).map(({ kind, given }) => attempt(() => read(kind, given)));
"""
READ_ALL = """
import { readAll } from "./score/trec.js";
const { tables, exchanged, faults } = readAll(JSON.parse(text));
const scored = [
  ["run", "qrels"].map((box) => tables[box]?.get("q1")?.get("d1")), exchanged,
  faults.map(({ key, filling }) => [key, filling.run, filling.qrels]),
];
"""


def _case(rng: np.random.Generator) -> dict[str, Any]:
    """One ranking of rows with its judgements; half with scores on a coarse grid, so that many are equal."""
    corpus, depth = int(rng.integers(1, 40)), int(rng.integers(1, 25))
    docs = rng.permutation(corpus)[:depth].tolist()
    scores = (rng.integers(0, 4, len(docs)) / 3).tolist() if rng.random() < 0.5 else None
    if rng.random() < 0.3:
        docs += [-1] * int(rng.integers(1, 5))
        scores = None
    lowest, highest = int(rng.choice([-1, 0, 1])), int(rng.choice([1, 1, 3, 5]))
    judged = rng.permutation(corpus)[: int(rng.integers(1, corpus + 1))].tolist()
    return {
        "docs": docs,
        "scores": scores,
        "judged": [[doc, int(rng.integers(lowest, highest + 1))] for doc in judged],
        "k": int(rng.integers(1, 26)),
        "level": int(rng.choice([1, 1, 1, 2, 3])),
        "gain": str(rng.choice(["linear", "exponential"])),
        "persistence": float(rng.choice([0.5, 0.8, 0.95])),
    }


def random_runs() -> list[dict[str, Any]]:
    """Whole runs and judgements as TREC text: queries on one side only, equal scores, ids that sort as text."""
    rng = np.random.default_rng(5)
    cases = []
    for _ in range(60):
        run, qrels = "", "q0 0 d0 1\n"
        for query in range(int(rng.integers(2, 12))):
            names = [f"d{doc}" for doc in rng.permutation(30)] + ["文档", "Ωmega", "😀"]
            if rng.random() < 0.8:
                docs = rng.permutation(names)[: int(rng.integers(1, 20))]
                run += "".join(f"q{query} Q0 {doc} 1 {rng.integers(-3, 4) / 7} me\n" for doc in docs)
            if query and rng.random() < 0.8:
                docs = rng.permutation(names)[: int(rng.integers(1, 20))]
                qrels += "".join(f"q{query} 0 {doc} {rng.integers(-1, 4)}\n" for doc in docs)
        run = "q0 Q0 d0 1 1 me\n" + run.replace("q0 Q0 d0 ", "q0 Q0 d00 ")
        cases.append({"run": run, "qrels": qrels, "k": int(rng.integers(1, 15)), "level": int(rng.choice([1, 2]))})
    return cases


@pytest.mark.filterwarnings("ignore")  # of rankings that end above k, or hold nothing judged
def test_values_are_those_of_the_package(node: Any):
    """A reader would see another number than the package computes: at ties, padding, grades, short rankings."""
    rng = np.random.default_rng(21)
    cases = [_case(rng) for _ in range(1000)]
    for case, values in zip(cases, node(SCORE, cases), strict=True):
        qrels, names = Judgements.of([dict(case["judged"])], case["level"]), [f"{name}@{case['k']}" for name in METRICS]
        scores = None if case["scores"] is None else np.array([case["scores"]])
        options = {"gain": case["gain"], "persistence": case["persistence"]}
        expected = evaluate(np.array([case["docs"]]), qrels, names, scores=scores, **options)
        assert values == pytest.approx(list(expected.mean.values()), abs=1e-12), case


def test_a_pasted_run_scores_as_in_the_package(node: Any, tmp_path: Path):
    """A run pasted into the page would get another mean, or other counts, than evaluate gives it."""
    script = """
    import { evaluate } from "./try/metrics.js";
    import { read } from "./score/trec.js";
    const scored = JSON.parse(text).map(({ run, qrels, k, level }) =>
      evaluate(read("run", run), read("qrels", qrels), k, { level }));
    """
    cases = random_runs()
    for case, got in zip(cases, node(script, cases), strict=True):
        (tmp_path / "run").write_text(case["run"], encoding="utf-8")
        (tmp_path / "qrels").write_text(case["qrels"], encoding="utf-8")
        names = [f"{metric}@{case['k']}" for metric in [*METRICS, "judged"]]
        run, qrels = read_run(tmp_path / "run"), read_qrels(tmp_path / "qrels")
        expected = evaluate(run, qrels, names, relevance_level=case["level"])
        means = dict(zip([*METRICS, "judged"], [*got["mean"], got["judged"]], strict=True))
        assert [means[name.split("@")[0]] for name in names] == pytest.approx(list(expected.mean.values()), abs=1e-12)
        assert got["counts"] == {
            "queries": expected.queries, "missing": expected.missing, "noRelevant": expected.no_relevant,
            "unjudged": expected.unjudged, "tied": expected.tied,
        }  # fmt: skip


GOOD = [
    ("run", "q1 Q0 d1 1 1.5 me\n\n q1\tQ0 d2 2 -1e-3 me\r\nq2 Q0 文档 1 .5 me"),
    ("run", "\ufeffq1 Q0 d1 1 1e400 me".replace("1e400", "3e38")),
    ("qrels", "q1 0 d1 1\nq1 0 d2 -2\nq2 0 d1 +3\n"),
    ("qrels", "query-id\tcorpus-id\tscore\nq1\td1\t2\n"),
    ("qrels", "q1 d1 2\nq1 d2 0\n"),
    ("run", "# of an engine\nq1 Q0 d1 1 1.5 me more fields\n  q1\tQ0\td2\t2\t1\tme\n#q2 Q0 d1 1 2 me"),
    ("qrels", "# of a pool\nq1 0 d1 1.0\nq1 0 d1 1\n"),
    ("qrels", "q1,0,d1,1\nq1,0,d2,2."),
    ("qrels", "q1, d1, 1\nq1, d2, 0"),
    ("qrels", 'q1,"d,1",1\nq1,"d ""2""",0\n"q 2",d1,1'),
    ("qrels", "sep=;\r\nQuery ID;doc-id;relevance\r\nq1;d1;1\r\nq2;d 2;0\r\n"),
    ("qrels", "sep=|\nq1|d 1|1\nq1|d2|0"),
    ("qrels", "grade,note,document,query\n1,x,d1,q1\n0,,d2,q1"),
    ("qrels", "topic\titeration\tdocno\tlabel\nq1\t0\td 1\t2"),
    ("qrels", "judgment\tquery\tpid\n3\tq1\td1"),
    ("qrels", '{"q2": {"d1": 1, "d2": 0}, "q1": {"d 1": 2.0, "7": -1}}'),
]
BAD = [
    ("run", "", 0, "empty"),
    ("run", "hello world", 1, "either"),
    ("run", "q1 Q0 d1 1 1.5 me\nq1 Q0 d2 2 0.5", 2, "fields"),
    ("run", "query,document,score\nq1,d1,1\nq1,d1,1", 3, "twice"),
    ("run", "query,rank,score\nq1,1,1", 1, "header"),
    ("run", '{"q1": {"d1": "high"}}', 0, "score"),
    ("run", '{"q1": {"d1": 1}}\n{"q2": {"d1": 1}}', 0, "json"),
    ("run", '[{"query": "q1", "document": "d1", "score": 1}]', 0, "json"),
    ("qrels", "query,document\nq1,d1", 1, "either"),
    ("qrels", "who,what,how,why\nq1,0,d1,1", 1, "header"),
    ("qrels", "query,query,document,grade\nq1,q1,d1,1", 1, "header"),
    ("qrels", 'q1,d1,1\nq1,"d2,1', 2, "fields"),
    ("run", "q1 Q0 d1 1 nan me", 1, "score"),
    ("run", "q1 d1 2\nq1 Q0 d2 2 1 me", 2, "fields"),
    ("run", "q1 Q0 d1 1 1e400 me", 1, "score"),
    ("run", "q1 Q0 d1 1 1_000 me", 1, "score"),
    ("run", "q1 Q0 d1 1 2 me\n\nq1 Q0 d1 2 1 me", 3, "twice"),
    ("qrels", "q1 0 d1 1\nq1 0 d2 yes", 2, "grade"),
    ("qrels", "q1 0 d1 1.5", 1, "grade"),
    ("qrels", "q1 0 d1 4294967296", 1, "grade"),
    ("qrels", "q1 0 d1 1\nq1 0 d1 0", 2, "twice"),
]


def test_intervals_are_those_of_the_package(node: Any):
    """The page would give other intervals than the lessons and the report: more than other random draws explain."""
    load = 'import { intervals } from "./try/metrics.js";'
    script = f"{load} const scored = JSON.parse(text).map((table) => intervals(table));"
    rng = np.random.default_rng(11)
    tables = [
        [rng.beta(0.3, 0.5, n), 1 / rng.integers(1, 11, n), rng.random(n) ** 8, rng.integers(0, 2, n), np.full(n, 0.5)]
        for n in (2, 5, 30, 132, 1001, 20_001)
    ]
    tables.append([np.zeros(9), np.ones(9)])
    for table, got in zip(tables, node(script, [[row.tolist() for row in table] for table in tables]), strict=True):
        for values, ends in zip(table, got, strict=True):
            expected = interval(values)
            exact = np.isin(values, (0, 1)).all() or np.ptp(values) == 0 or len(values) > 20_000  # nothing is drawn
            draws = np.array([bootstrap_interval(values, seed=seed)[1:3] for seed in range(0 if exact else 8)])
            allowed = 1e-6 if exact else 6 * draws.std(axis=0, ddof=1) + np.ptp(values) * 1e-3
            assert (np.abs(np.array(ends) - expected[1:3]) <= allowed).all(), (len(values), ends, expected)
    assert node(script, [[[0.5], [1]]]) == [[None, None]]


def test_two_runs_are_compared_as_in_the_package(node: Any):
    """The page would call another difference proven than the package: another p, another interval or power."""
    script = """
    import { compare, detectable, queriesNeeded } from "./try/metrics.js";
    const run = (values) => ({ mean: [0], rows: values.map((value) => ({ values: [value] })) });
    const scored = JSON.parse(text).map(([a, b]) => {
      const [{ sd, difference, ...got }] = compare(run(b), run(a));
      return difference ? { ...got, shows: detectable(sd, a.length), needed: queriesNeeded(difference, sd) } : got;
    });
    """
    rng, pairs = np.random.default_rng(3), []
    for n, differ in ((2, 2), (9, 9), (40, 20), (30, 0), (40, 21), (1001, 600)):
        for a in (rng.beta(0.3, 0.5, n), rng.integers(0, 2, n).astype(float)):
            b = a.copy()
            b[:differ] = np.round(rng.random(differ) * 0.8, 1) if a.max() < 1 or n < 40 else 0
            pairs.append((a, b))
    for (a, b), got in zip(pairs, node(script, [[a.tolist(), b.tolist()] for a, b in pairs]), strict=True):
        test, sd, n = significance.paired_test(a, b), float((a - b).std(ddof=1)), len(a)
        assert got["exact"] == test.exact
        error = 0 if test.exact else 6 * (2 * test.p_value * (1 - test.p_value) / 250_000 + 1e-10) ** 0.5
        assert abs(got["p"] - test.p_value) <= error, (n, got["p"], test)
        draws = np.array([bootstrap_interval(a - b, seed=seed)[1:3] for seed in range(8)])
        allowed = 6 * draws.std(axis=0, ddof=1) + np.ptp(a - b) * 1e-3
        assert (np.abs(np.array(got["ends"]) - draws.mean(axis=0)) <= allowed).all(), (n, got, draws.mean(axis=0))
        if got.get("shows"):
            assert got["shows"] == pytest.approx(significance.minimum_detectable_difference(sd, n), rel=1e-6)
            assert got["needed"] == significance.queries_needed(test.difference, sd)


@pytest.mark.filterwarnings("ignore:text. not used")
def test_texts_are_read_as_the_package_reads_them(node: Any, tmp_path: Path):
    """A file that the package reads would be refused by the page, or read otherwise."""
    got = node(READ, [{"kind": kind, "given": text} for kind, text in GOOD])
    for (kind, text), table in zip(GOOD, got, strict=True):
        file = tmp_path / ("text.json" if text.startswith("{") else "text")
        file.write_bytes(text.encode())
        read = (read_run if kind == "run" else read_qrels)(file)
        assert {query: dict(docs) for query, docs in table} == read


RUNS = [  # one run in layouts that programs write
    "q1 Q0 d7 1 12.5 me\nq2 Q0 文档 1 3 me",
    "q1 d7 12.5\nq2 文档 3",
    "query\tdocument\tscore\nq1\td7\t12.5\nq2\t文档\t3",
    "q1,d7,12.5\nq2,文档,3",
    "q1,Q0,d7,1,12.5,me\nq2,Q0,文档,1,3,me",
    'sep=;\nScore;doc_id;Query-ID\n12.5;"d7";q1\n3;"文档";q2',
    'qid,docid,docno,rank,score,query\nq1,17,d7,1,12.5,"its text, quoted"\nq2,18,文档,1,3,x',  # PyTerrier's
    '{"q1": {"d7": 12.5}, "q2": {"文档": 3}}',
]


def test_a_run_of_other_columns_is_read_like_one_of_six(node: Any):
    """A run as many programs keep it would be refused, lose its first line, or have the columns of another."""
    got = node(READ, [{"kind": "run", "given": text} for text in RUNS])
    assert got == [[["q1", [["d7", 12.5]]], ["q2", [["文档", 3]]]]] * len(RUNS)


EXCHANGED = {  # run, judgements, and whether they were found to stand in each other's place
    "right": ("q1 Q0 d1 1 2.5 me", "q1 0 d1 1", False),
    "TREC": ("q1 0 d1 1", "q1 Q0 d1 1 2.5 me", True),
    "three columns": ("q1 d1 1", "q1 d1 2.5", True),
    "CSV": ("query,document,grade\nq1,d1,1", "query,document,score\nq1,d1,2.5", True),
    "JSON": ('{"q1": {"d1": 1}}', '{"q1": {"d1": 2.5}}', True),
    "one alone": (None, "q1 Q0 d1 1 2.5 me", False),
    "one broken": ("q1 0 d1 1", "q1 Q0 d1 1 high me", False),
    "judgements twice": ("q1 0 d1 1", "q1 0 d1 1", False),
}


@pytest.mark.parametrize(("run", "qrels", "expected"), EXCHANGED.values(), ids=EXCHANGED.keys())
def test_exchanged_texts_are_noticed(node: Any, run: str | None, qrels: str, expected: bool):
    """A reader who took one box for the other would be told of fields, or be scored the wrong way round."""
    given = {"qrels": qrels} if run is None else {"run": run, "qrels": qrels}
    values, exchanged, _ = node(READ_ALL, given)
    assert exchanged is expected
    if expected:
        assert values == [2.5, 1]


@pytest.mark.parametrize(
    ("qrels", "faults"),
    [
        ("q1 0 doc-1 1\nq2 0 doc-2 1", [["foreign", "D1", "doc-1"]]),
        ("q1 0 doc-1 1\nq2 0 D1 1", []),
        ("x1 0 D1 1", [["apart", "q1", "x1"]]),
    ],
)
def test_a_pair_without_a_common_document_is_refused(node: Any, qrels: str, faults: list[list[str]]):
    """Every score would be 0, with an interval, where the ids of documents are of two kinds."""
    assert node(READ_ALL, {"run": "q1 Q0 D1 1 2 me\nq2 Q0 D2 1 2 me", "qrels": qrels})[2] == faults


def test_columns_that_are_not_read_are_told(node: Any):
    """A table without a header, of query, document, grade and time, would be read as TREC's without a word."""
    load = 'import { read } from "./score/trec.js";'
    script = f'{load} const scored = JSON.parse(text).map((one) => read("qrels", one).unused);'
    tables = ["q1,d1,1,1700000000", "q1 0 d1 1", "q1 d1 1", ",query,document,grade,rater\n0,q1,d1,1,me"]
    assert node(script, tables) == [["d1"], [], [], ["rater"]]


def test_bad_lines_are_named(node: Any, tmp_path: Path):
    """A reader would get numbers from a broken file, or not be told which line is wrong."""
    got = node(READ, [{"kind": kind, "given": text} for kind, text, _, _ in BAD])
    assert got == [[kind, line, key] for kind, _, line, key in BAD]
    for kind, text, _, _ in BAD:
        (tmp_path / "text").write_bytes(text.encode())
        if kind == "qrels" or text.strip():
            with pytest.raises(ValueError, match="text"):
                (read_run if kind == "run" else read_qrels)(tmp_path / "text")
