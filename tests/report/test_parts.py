"""The parts of the report command: gates, types of queries, what it reads from its options."""

import inspect
import json

import pytest

from helpers.data import load_dataset
from helpers.data.load import Rules
from helpers.report import command, parser
from helpers.report.command import read_gate
from helpers.report.gates import at_least
from tests.systems.samples import write_collection


@pytest.mark.parametrize(
    ("name", "floor", "outcome"),
    [
        ("good", 1.0, ("passed", "recall@1 of good, 1.0000, is at least 1.0")),
        ("bad", 0.1, ("not_passed", "recall@1 of bad, 0.0000, is below 0.1")),
        ("gone", 0.0, ("not_passed", "gone was not scored")),
    ],
)
def test_a_floor_is_reached_or_not(clear, name, floor, outcome):
    """A build that got worse would pass, one that just reaches the floor fail, or a missing system count as fine."""
    assert at_least(clear, name, "recall@1", floor) == outcome


def test_floors_are_read():
    """A floor that is read wrongly is a gate that never shuts."""
    assert read_gate("--x", " nDCG@10 = 0.75 ") == ("ndcg@10", 0.75)
    assert read_gate("--x", "nDCG@10", 0.0) == ("ndcg@10", 0.0)
    assert [read_gate("--x", f"map@3={value}")[1] for value in ("0", "1", ".5")] == [0, 1, 0.5]
    for text in ("ndcg@10", "ndcg@10=1.1", "ndcg@10=-0.1", "ndcg@10=0.1.2", "=0.5", "ndcg@10=.", "ndcg@10=high"):
        with pytest.raises(ValueError, match="expected METRIC=VALUE with a value from 0 to 1"):
            read_gate("--x", text)


def test_options_that_repeat():
    """An option would take one value of several, end in a stack trace, or stand on a page that nobody reads."""
    gates = ["--fail-under", "ndcg@5=0.1", "--fail-under", "mrr@5=0.2"]
    given = parser().parse_args(["--system", "c", "--system", "d", "e", *gates])
    assert given.system == ["c", "d", "e"]
    assert given.fail_under == ["ndcg@5=0.1", "mrr@5=0.2"]
    assert all(action.help for action in parser()._actions)
    assert len(parser()._actions) - 1 <= 26
    assert set(command.KEYWORDS) <= {*inspect.signature(load_dataset).parameters, *Rules.__annotations__}


def test_unanswered_queries_can_be_left_out(tmp_path):
    """The mean over the queries that have an answer could not be had."""
    write_collection(tmp_path / "set")
    arguments = ["--data", str(tmp_path / "set"), "--system", "bm25", "--quiet", "--out", str(tmp_path / "out")]
    assert command.main([*arguments, "--unanswered", "skip", "--margin", "0.02"]) == 0
    assert json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["data"]["queries"] == 5


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ('leave them out, on_missing="skip".', "leave them out, --on-missing skip."),
        ('choose columns="query=…" or split="test"', 'choose --columns "query=…" or --split test'),
        ("max_length=3 and the qrels stay", "max_length=3 and the qrels stay"),
    ],
)
def test_messages_name_the_options_of_the_command(message, shown):
    """Whoever reads on_missing="skip" beside a shell's prompt has nowhere to write it."""
    assert command.with_options(message) == shown
