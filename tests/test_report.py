"""The report command: every number against pytrec_eval, every kind of system, gates, what it refuses and how fast."""

import contextlib
import csv
import hashlib
import io
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from helpers.data import load_dataset
from helpers.data.trec import read_qrels, read_run, write_qrels, write_run
from helpers.embeddings import encode
from helpers.metrics import evaluate
from helpers.models import load_model
from helpers.report import main
from notebooks.kit.execute import OFFLINE, cache_folder
from notebooks.kit.notebooks import ROOT
from tests.checkpoints import save_checkpoint
from tests.systems.samples import (
    MEASURES,
    QRELS,
    QUERIES,
    judged_by_trec_eval,
    write_collection,
    write_embeddings,
    write_systems,
)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Use the shared cache, no network and no bars."""
    for name, value in (OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(ROOT)), "TQDM_DISABLE": "1"}).items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Run the command once over every kind of system, and one that fails; give its folder, status and last error."""
    folder = tmp_path_factory.mktemp("everything")
    write_collection(folder / "data")
    systems = write_systems(folder)
    systems.write_text(systems.read_text() + '\n[systems.broken]\nmodel = "model"\nindex = "Nonsense7"\n')
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(io.StringIO()) as error:
        for name, value in (OFFLINE | {"EVAL_CACHE_DIR": str(folder / "cache"), "TQDM_DISABLE": "1"}).items():
            patch.setenv(name, value)
        status = main(["--data", str(folder / "data"), "--systems", str(systems), "--out", str(folder / "out")])
    return folder / "out", status, error.getvalue().splitlines()[-1]


KINDS = ["model", "cut", "tokens", "approximate", "vectors", "theirs", "words", "rrf", "weighted", "crossed"]


@pytest.mark.parametrize("name", KINDS)
def test_every_number_is_pytrec_evals_on_the_exported_run(everything, name):
    """A user who checks our figures with trec_eval on the files beside the page would find others."""
    out = everything[0]
    [record] = [s for s in json.loads((out / "results.json").read_text())["systems"] if s["name"] == name]
    assert (record["run"] is None) == (name == "theirs"), "a run that was given is not written again"
    run = out / record["run"] if record["run"] else out.parent / record["where"]
    theirs = judged_by_trec_eval(run, out / "qrels.trec")
    lines = [line for line in csv.DictReader((out / "per_query.csv").open(encoding="utf-8")) if line["system"] == name]
    assert [line["query"] for line in lines] == list(QUERIES)
    for line in lines:
        for metric in MEASURES:
            assert float(line[metric]) == theirs.get(line["query"], dict.fromkeys(MEASURES, 0.0))[metric]
    for metric in MEASURES:
        total = sum(theirs.get(query, {metric: 0.0})[metric] for query in QUERIES)
        assert record["scores"][metric]["mean"] == pytest.approx(total / len(QUERIES), abs=1e-15)


def test_a_system_that_fails_costs_its_row_and_the_exit_status(everything):
    """The page would be lost with it; or CI would take a report without it for a good one."""
    out, status, error = everything
    assert (status, error.partition("FAISS")[0]) == (1, "error: broken: ")
    [record] = [s for s in json.loads((out / "results.json").read_text())["systems"] if s["name"] == "broken"]
    assert "FAISS knows no index 'Nonsense7'" in record["error"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "FAISS knows no index &#39;Nonsense7&#39;" in page
    assert str(out.parent) not in page + (out / "results.json").read_text()


def test_embeddings_score_as_the_model_they_came_from(tmp_path):
    """They must differ by 0 with p = 1; a shuffled pairing, or vectors of other texts, would show here."""
    write_collection(tmp_path / "set")
    data, place = load_dataset(tmp_path / "set"), save_checkpoint(tmp_path / "model", pooling="mean")
    folder = tmp_path / "my <i>vectors"
    folder.mkdir()
    for stem, texts, kind in (("passages", data.corpus, "passage"), ("queries", data.queries, "query")):
        np.save(folder / f"{stem}.npy", encode(load_model(place), texts, kind=kind)[::-1])
        (folder / f"{stem}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts[::-1]))
    options = ["--data", str(tmp_path / "set"), "--language", "zh", "--out", str(tmp_path / "out")]
    assert main(["--model", str(folder), "--system", str(place), *options]) == 0
    [test] = json.loads((tmp_path / "out" / "results.json").read_text())["tests"]
    assert (test["difference"], test["p"], "adjusted_p" in test) == (0, 1, False)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "在界限内相等" in page
    assert "它与第二名" not in page  # the verdict at the head has an interval already
    assert "<i>" not in page
    assert str(tmp_path) not in page


def test_a_low_score_sets_the_exit_status(tmp_path, capsys):
    """A build whose system finds next to nothing would pass."""
    rows = "".join(f"word{row},only word{row} here\n" for row in range(12))
    (tmp_path / "set.csv").write_text("query,positive\n" + rows)
    bad = tmp_path / "bad.trec"
    bad.write_text("".join(f"{row} Q0 {(row + 1) % 12} 1 1.0 bad\n" for row in range(12)))
    arguments = ["--data", str(tmp_path / "set.csv"), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--system", "bm25", "--fail-under", "ndcg@10=0.9"]) == 0
    first, *_, gate, last = capsys.readouterr().out.splitlines()
    assert first.startswith("BM25: recall@1 1.0000, ")
    assert gate == "gate: passed: ndcg@10 of BM25, 1.0000, is at least 0.9"
    assert last == f"report: {tmp_path / 'out' / 'report.html'}, beside it 4 files of results"
    assert main([*arguments, "--system", str(bad), "--fail-under", "ndcg@10=0.9"]) == 3
    assert "gate: FAILED: ndcg@10 of bad.trec" in capsys.readouterr().out


def test_ctrl_c_ends_in_one_line(tmp_path, monkeypatch, capsys):
    """A trace of a hundred lines would hide that what was encoded is kept."""
    monkeypatch.setattr("helpers.report.command.compare", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["--system", "bm25", "--out", str(tmp_path)]) == 130
    error = capsys.readouterr().err
    assert "\nstopped: nothing was written; the same command goes on" in error
    assert "Traceback" not in error


def test_the_module_runs_the_command(monkeypatch, capsys):
    """`python -m helpers.report`, the only form without an installed command, would do nothing."""
    monkeypatch.setattr("sys.argv", ["report", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("helpers.report", run_name="__main__")
    assert "Compare any retrieval systems on any data" in capsys.readouterr().out


MISTAKES = {
    "no data file": (["--data", "data/nothing.csv"], "No file or folder 'data/nothing.csv'"),
    "no collection": (["--data", "pocket-fr"], "Unknown collection 'pocket-fr'. Bundled: pocket-en, "),
    "mistyped model": (["--model", "data/modle"], "No file or folder 'data/modle'; beside it is 'model'"),
    "no hub": (["--model", "BAAI/unheard-of"], "does not answer"),
    "judgements alone": (["--qrels", "qrels.txt"], "searches texts, and --qrels alone has none"),
    "no figure": (["--explain", "ndcg@10"], "--explain 'ndcg@10': expected METRIC=FIGURE"),
    "no run to explain": (["--model", "bm25", "--explain", "ndcg@10=0.5"], "is about a run, and 'BM25' is none"),
    "no table of systems": (["--systems", "systems.toml"], "No file 'systems.toml'"),
    "no folder to write": (["--out", "notes.docx/out"], "Cannot write into the folder 'notes.docx/out'"),
    "no cutoff": (["--metrics", "recall"], "'recall' needs a cutoff: write recall@10.\n"),
    **{f"a margin of {m}": (["--margin", m], f"--margin {m}: expected a difference above 0") for m in ("0", "nan")},
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Stand in a folder with a model, a document and no data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "model").mkdir(parents=True)
    (tmp_path / "notes.docx").write_text("")
    return tmp_path


def test_told_figures_are_explained(tmp_path, monkeypatch, capsys):
    """Whoever has a run file would have to write Python to learn how a figure came about, or get another answer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 1\nq2 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 3.0 t\nq1 Q0 x 2 2.0 t\nq2 Q0 x 1 3.0 t\nq2 Q0 a 2 2.0 t\n")
    arguments = ["--qrels", "qrels", "--model", "run", "--explain", "map@2=0.75,mrr@2=0.75"]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "map@2: told 0.75, trec_eval's convention gives 0.500000" in told
    assert "\n1. AP: divided by the hits found\n" in told
    assert main([*arguments, "--language", "zh"]) == 0
    assert "\n1. AP：除以找到的相关文档数\n" in capsys.readouterr().out
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_one_line_before_anything_is_loaded(place, mistake, monkeypatch, capsys):
    """The reader would wait for models and data, and then hear of a letter; or read a stack trace."""
    monkeypatch.setattr("helpers.data.hub.read", lambda *_: pytest.fail("read a table"))
    monkeypatch.setattr("helpers.report.comparison.load_model", lambda *_, **__: pytest.fail("loaded a model"))
    arguments, message = MISTAKES[mistake]
    assert main(["--out", str(place / "out"), *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not list((place / "out").glob("*"))


def test_damaged_runs_and_embeddings_are_found_before_anything_ranks(place, monkeypatch, capsys):
    """The models before them would have run for hours."""
    monkeypatch.setattr("helpers.systems.pipeline.retrieve", lambda *_: pytest.fail("ranked"))
    write_collection(place / "set")
    (place / "bad.trec").write_text("q1 Q0 d1 1 high tag\n")
    write_embeddings(place / "vectors")
    np.save(place / "vectors" / "passages.npy", np.ones((3, 8), np.float32))
    faults = {"bad.trec": "bad.trec', line 1: the score must be", "vectors": "has 3 rows, passages.jsonl 12"}
    for system, message in faults.items():
        assert main(["--data", "set", "--system", "bm25", "--system", system, "--out", "out"]) == 1
        assert message in capsys.readouterr().err


def test_ids_with_blanks_are_written_so_that_trec_eval_reads_them(place):
    """TREC's format has no quoting: the run could not be written after everything was computed, or ids be mixed up."""
    (place / "queries.tsv").write_text("q 1\tapple\nq2\thouse\n")
    (place / "corpus.tsv").write_text("d 1\tthe apple\nd%201\tan apple pie\nd2\ta house\n")
    (place / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq 1\td 1\t1\nq2\td2\t1\nq2\tgone\t0\n")
    files = ["--queries", "queries.tsv", "--corpus", "corpus.tsv", "--qrels", "qrels.tsv"]
    assert main(["--data", ".", *files, "--system", "bm25", "--out", "out"]) == 0
    assert read_run("out/run.trec")["q%201"].keys() == {"d%201", "d%25201"}
    assert read_qrels("out/qrels.trec") == {"q%201": {"d%201": 1}, "q2": {"d2": 1, "gone": 0}}
    assert main(["--data", ".", *files, "--model", "out/run.trec", "--explain", "mrr@1=0.5"]) == 0


def test_a_report_takes_the_place_of_the_earlier_one(place):
    """CI would upload an older page as this run's; a mistake cost the last report; a stranger's file be lost."""
    write_collection(place / "set")
    arguments = ["--data", "set", "--out", "out", "--quiet", "--system"]
    assert main([*arguments, "bm25", "--system", "tfidf"]) == 0
    first = {path.name for path in (place / "out").iterdir()}
    (place / "out" / "notes.txt").write_text("a stranger's")
    assert main([*arguments, "out/run.BM25.trec?name=mine", "--system", "bm25"]) == 0
    assert {path.name for path in (place / "out").iterdir()} == first | {"run.BM25.2.trec", "notes.txt"}
    systems = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))["systems"]
    assert [system["run"] for system in systems] == [None, "run.BM25.2.trec"]
    before = {path: path.read_bytes() for path in (place / "out").iterdir()}
    (place / "bad.csv").write_text("asked,answer\na,b\n")
    for data in (["bad.csv"], ["set", "--qrels", "out/qrels.trec"]):
        assert main(["--data", *data, "--out", "out", "--system", "bm25"]) == 1
    assert {path: path.read_bytes() for path in (place / "out").iterdir()} == before, "a failure costs the last report"


def test_a_run_of_distances_is_noticed(place, capsys):
    """It is scored upside down, as with trec_eval, and looks like a bad engine."""
    write_collection(place / "set")
    for name, sign in (("distances", 1), ("scores", -1)):
        lines = [f"{query} Q0 {doc} {rank} {sign * rank} tag\n"
                 for query, docs in QRELS.items() for rank, doc in enumerate([*docs, "d12"], 1)]  # fmt: skip
        (place / f"{name}.trec").write_text("".join(reversed(lines)))
    assert main(["--data", "set", "--out", "out", "--system", "distances.trec", "--system", "scores.trec"]) == 0
    error = capsys.readouterr().err
    assert "note: distances.trec: In 6 of 6 queries the scores rise" in error
    assert "note: scores" not in error
    assert "scored upside down" in (place / "out" / "report.html").read_text(encoding="utf-8")
    record = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))
    assert [(c["system"], c["count"]) for c in record["causes"] if c["name"] == "rising"] == [("distances.trec", 6)]


def test_runs_are_scored_without_any_texts(tmp_path, monkeypatch, capsys):
    """A track's judgements and runs, which is what people have, would not be enough; or the numbers be others."""
    monkeypatch.chdir(tmp_path)
    qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1, "d5": 1}}
    runs = {
        "a.trec": {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d9": 1.0, "d5": 1.0}},
        "b.trec": {"q1": {"d8": 1.0, "d3": 0.5}, "q2": {"d4": 1.0}},
    }
    write_qrels(Path("qrels.txt"), qrels)
    for name, run in runs.items():
        write_run(Path(name), run, "tag")
    gate = ["--metrics", "P@10,AP@30,RR@10,nDCG@10", "--fail-under", "nDCG@10=0.1"]
    assert main(["--qrels", "qrels.txt", "--system", *runs, *gate, "--quiet"]) == 0
    record = json.loads(Path("build/report/results.json").read_text(encoding="utf-8"))
    assert record["main"] == "ndcg@10"
    for system in record["systems"]:
        expected = evaluate(runs[system["where"]], qrels, ["precision@10", "map@30", "mrr@10", "ndcg@10"]).mean
        assert expected.items() <= {name: score["mean"] for name, score in system["scores"].items()}.items()
        assert system["sha256"] == hashlib.sha256(Path(system["where"]).read_bytes()).hexdigest()
    tables = [f'[systems.{name[0]}]\nrun = "{name}"\n' for name in runs]
    Path("both.toml").write_text("".join([*tables, '[systems.both]\nfuse = ["a", "b"]\n']))
    assert main(["--qrels", "qrels.txt", "--systems", "both.toml", "--metrics", "nDCG@10", "--quiet"]) == 0
    assert read_run("build/report/run.both.trec")["q1"].keys() == {"d1", "d2", "d3", "d8"}
    capsys.readouterr()
    assert main(["--qrels", "qrels.txt", "--system", "bm25"]) == 1
    assert "'BM25' searches texts" in capsys.readouterr().err
    assert main(["--qrels", "qrels.txt", "--system", "a.trec", "--encoding", "big5"]) == 1
    assert "--encoding is about texts" in capsys.readouterr().err


def test_patterns_name_files_without_a_shell_and_cutoffs_the_metrics(tmp_path, monkeypatch, capsys):
    """On Windows and in TOML no shell expands runs/*.trec; other depths than the asked ones would be scored."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    for name in "ab":
        (tmp_path / f"{name}.trec").write_text("q1 Q0 d1 1 1.0 x\n", encoding="utf-8")
    assert main(["--qrels", "qrels", "--system", "*.trec", "--metrics", "nDCG(gain=exponential)@1", "--quiet"]) == 0
    out, error = capsys.readouterr()
    assert "a.trec: ndcg(gain=exponential)@1 0.5000" in out
    assert "note: a.trec: 1 of 2 queries have no result and score 0\n" in error
    assert main(["--qrels", "qrels", "--system", "a.trec", "--cutoffs", "3,1", "--quiet"]) == 0
    assert "a.trec: recall@1 0.5000, recall@3 0.5000, mrr@3 0.5000, map@3 0.5000, nd" in capsys.readouterr().out
    assert main(["--qrels", "qrels", "--system", "gone*.trec", "--quiet"]) == 1
    assert "No file or folder 'gone*.trec'" in capsys.readouterr().err
