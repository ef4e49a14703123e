"""The parts of the report command: gates, types of queries, what it reads from its options."""

import inspect
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers._optional import Note
from helpers.data import RetrievalDataset, load_dataset
from helpers.data.bundled import cards
from helpers.data.load import Rules
from helpers.models import OFFLINE_DEFAULT
from helpers.report import command, compare, parser
from helpers.report.command import _print_results, bundled_types, read_cutoffs, read_gate, read_types
from helpers.report.files import earlier_files
from helpers.report.gates import Baseline, Outcome, at_least, no_drop
from helpers.report.spec import OPTIONS
from tests.systems.samples import collection


def test_a_floor_is_reached_or_not(clear):
    """A build that got worse would pass, one that just reaches the floor fail, or a missing system count as fine."""
    assert str(at_least(clear, "good", "recall@1", 1.0)) == "passed: recall@1 of good, 1.0000, is at least 1.0"
    assert str(at_least(clear, "bad", "recall@1", 0.1)) == "FAILED: recall@1 of bad, 0.0000, is below 0.1"
    assert str(at_least(clear, "gone", "recall@1", 0.0)) == "FAILED: gone was not scored"


def test_floors_are_read():
    """A floor that is read wrongly is a gate that never shuts."""
    assert read_gate("--x", " nDCG@10 = 0.75 ") == ("nDCG@10", 0.75)
    assert read_gate("--x", "nDCG@10", 0.0) == ("nDCG@10", 0.0)
    assert [read_gate("--x", f"map@3={value}")[1] for value in ("0", "1", ".5")] == [0, 1, 0.5]
    for text in ("ndcg@10", "ndcg@10=1.1", "ndcg@10=-0.1", "ndcg@10=0.1.2", "=0.5", "ndcg@10=.", "ndcg@10=high"):
        with pytest.raises(ValueError, match="expected METRIC=VALUE with a value from 0 to 1"):
            read_gate("--x", text)


def test_the_files_of_a_later_version_stay(tmp_path):
    """Files that a newer report wrote would be deleted as this one's, or a stack trace would end the run."""
    (tmp_path / "results.json").write_text('{"schema": 99, "systems": []}', encoding="utf-8")
    assert earlier_files(tmp_path) == []


def test_types_of_queries_are_read(tmp_path, clear):
    """A query under another's type, or a file of another collection, would give slices that mean nothing."""
    file = tmp_path / "types.tsv"
    file.write_text("query,type\nq0\tnegation\n\n q1 , wording \nelsewhere\tx\n", encoding="utf-8-sig")
    assert read_types(file, clear.data) == ({"q0": "negation", "q1": "wording"}, ["query", "elsewhere"])
    for text, message in (
        ("q0\tx\nq1 y\n", "types.tsv, line 2: expected a query id, a tab or a comma, and its type, not 'q1 y'"),
        ("q0\t \n", "types.tsv, line 1: expected"),
        ("a\tx\nb\ty\n", "no line about a query of the data, such as 'q0'"),
        ("q0\tx\tmore\n", "types.tsv, line 1: expected"),
        ("q0\tx\nq0\ty\n", "types.tsv, line 2: query 'q0' is of type 'y' and of 'x': give each query one type"),
        ("", "no line about a query of the data"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_types(file, clear.data)
    for encoding in ("GB18030", "UTF-16"):
        file.write_text("q0\t问句\n", encoding=encoding)
        with pytest.raises(ValueError, match=r"not UTF-8 .* iconv -f ENCODING -t UTF-8"):
            read_types(file, clear.data)


def test_types_of_the_bundled_queries_are_the_files():
    """The slices of the bundled collection would be missing, or be shown for somebody else's queries."""
    [path] = [card.folder / "query_types.tsv" for card in cards() if card.name == "pocket"]
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    names = [line[0] for line in lines[:3]]
    for name, expected in (
        ("pocket-en", {line[0]: line[1] for line in lines[:3]}),
        ("other-en", {}),
        ("pocketbook", {}),
    ):
        data = RetrievalDataset(name, names, ["x"], [{}, {}, {}], names, ["d"])
        assert bundled_types(data) == expected
    strange = RetrievalDataset("pocket-en", ["a", "b"], ["x"], [{}, {}], [names[0], "strange"], ["d"])
    assert bundled_types(strange) == {}


def test_what_came_out_is_told(capsys, clear):
    """A failure or a note between the scores would be read by a program as a score."""
    failed = SimpleNamespace(notes=[], evaluation=None, error="no luck")
    good = replace(clear.results["good"], notes=[Note("a note")])
    results = {**clear.results, "good": good, "broken": failed}
    told = type(clear)(clear.data, results, clear.metrics, clear.main)
    _print_results(told, ["report.html", "a", "b"], [Outcome(True, "not_scored", {"name": "x"})])
    out, err = capsys.readouterr()
    assert err.splitlines()[-1] == "error: broken: no luck"
    assert "note: good: a note" in err
    assert out.splitlines()[0].startswith("good: recall@1 1.0000, ")
    assert out.splitlines()[-2:] == [
        "gate: passed: x was not scored",
        "report: report.html, beside it 2 files of results",
    ]
    _print_results(told, ["report.html"], [])
    assert capsys.readouterr().out.splitlines()[-1] == "report: report.html"


def test_options_that_repeat_and_options_left_out():
    """An option would take one value where it takes several, or a switch be on that nobody turned."""
    line = "--system c --system d e --quiet --fail-under ndcg@5=0.1 --fail-under mrr@5=0.2"
    given, bare = (parser().parse_args(text) for text in (line.split(), []))
    assert given.system == ["c", "d", "e"]
    assert given.fail_under == ["ndcg@5=0.1", "mrr@5=0.2"]
    assert given.quiet
    assert [action.dest for action in parser()._actions if not action.help] == []
    assert (bare.system, bare.fail_under, bare.fail_if_drop) == ([], [], [])
    assert (bare.quiet, bare.language) == (False, None)
    assert len(parser()._actions) - 1 <= 26, "a page of options that nobody reads to its end"


def test_cutoffs_are_checked():
    """The run would start, and fail at its end."""
    assert [read_cutoffs(text) for text in ("1,10", "5", "1 2")] == [[1, 10], [5], [1, 2]]
    for given in ("0", "1,x", "1.5", "-1"):
        with pytest.raises(ValueError, match="expected whole numbers of at least 1"):
            read_cutoffs(given)


def test_every_option_of_the_data_is_one_of_load_dataset():
    """It would end in a stack trace."""
    assert set(command.keywords(command.DATA)) <= {*inspect.signature(load_dataset).parameters, *Rules.__annotations__}
    assert set(command.RARE["models"]) <= set(OPTIONS["model"])


def test_the_file_of_systems_sets_rarer_options(tmp_path):
    """What the command line no longer has could not be said anywhere, or a slip in it would be passed over."""
    path, out = tmp_path / "systems.toml", str(tmp_path / "out")
    rows = '[systems.words]\nwords = "bm25"\n[data]\ncorpus_queries = 3\n[report]\nmargin = 0.02\n'
    path.write_text(rows + '[models]\nindex = "SQ8"\n')
    args = command.parser().parse_args(["--systems", str(path), "--model", OFFLINE_DEFAULT])
    assert [spec.options.get("index") for spec in command._specs(args)] == ["SQ8", None]
    assert command.main(["--systems", str(path), "--max-queries", "2", "--cutoffs", "2", "--quiet", "--out", out]) == 0
    record = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (record["main"], record["data"]["passages"] < 20) == ("ndcg@2", True)
    for line in ('[data]\nsplitt = "x"\n', "[report]\nlevel = 5.0\n", "[report]\nmargin = true\n"):
        path.write_text(line)
        assert command.main(["--systems", str(path), "--out", out]) == 1


def test_one_query_fails_a_gate_in_words():
    """A reader would get a stack trace, which ends CI with the status of a crash."""
    one = compare(["bm25"], collection().first(1), 2)
    verdict = no_drop(one, "BM25", Baseline("2026-01-01", one.scored["BM25"].per_query), "ndcg@2", 0.0, 0.05)
    assert not verdict.passed
    assert "cannot be compared on fewer than two queries" in verdict.why()


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ('leave them out, on_missing="skip".', "leave them out, --on-missing skip."),
        ('choose columns="query=…" or cutoffs=[10]', 'choose --columns "query=…" or --cutoffs 10'),
        ("max_length=3 and the qrels stay", "max_length=3 and the qrels stay"),
    ],
)
def test_messages_name_the_options_of_the_command(message, shown):
    """Whoever reads on_missing="skip" beside a shell's prompt has nowhere to write it."""
    assert command.with_options(message) == shown
