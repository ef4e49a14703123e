"""The guide by task runs as it is written, and what the commands print for programs is what the pages say."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers.judgements import __main__ as judgements
from helpers.metrics.acid import __main__ as acid
from helpers.report import main as report
from tests.data.files import jsonl, put
from tests.judgements import fill

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "site" / "_root" / "tasks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", GUIDE, re.M | re.S)
COMMANDS = [
    line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines() if " pip install " not in line
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the guide names."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copy(ROOT / "helpers" / "plain.py", folder)
    (folder / "my_metrics.py").write_text("from plain import evaluate\n", encoding="utf-8")
    (folder / "qrels.txt").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(30)), encoding="utf-8")
    for name, shift in (("a", 2), ("b", 7), ("new", 2)):
        lines = [f"q{n} Q0 d{n + rank - n % shift} {rank} {9 - rank} {name}\n" for n in range(30) for rank in range(3)]
        (folder / f"{name}.trec").write_text("".join(lines), encoding="utf-8")
    for name, letter, first in (("queries", "q", 0), ("corpus", "d", -7)):
        texts = [{"_id": f"{letter}{n}", "text": f"{name} number {n}"} for n in range(first, 40)]
        put(folder / "my-set" / f"{name}.jsonl", jsonl(texts))
    rows = [f"where is box {n},Box {n} stands in room {n + 100}." for n in range(8)]
    (folder / "faq.csv").write_text("\n".join(["query,positive", *rows]), encoding="utf-8")
    return folder


MAINS = {"retrieval-acid": acid.main, "retrieval-judge": judgements.main, "retrieval-report": report}


def keys(value: Any) -> set[str]:
    """Every key of an object, of those inside it too, but for the data of a case."""
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    inner = value if isinstance(value, dict) else {}
    return {*inner}.union(*(keys(item) for key, item in inner.items() if key not in ("run", "qrels", "by_depth")))


def documented(command: str) -> set[str]:
    """The keys that the guide names for a command."""
    [row] = [line for line in GUIDE.splitlines() if line.startswith(f"| `{command}") and "--json" in line]
    return set(re.findall(r"`([a-z0-9_]+)`", row.split("|")[2]))


def test_every_command_of_the_guide_runs(desk, monkeypatch, capsys):
    """A program would run a command that fails, or read a key that is not there, and tell its user something else."""
    monkeypatch.chdir(desk)
    out = {}
    for command in COMMANDS:
        if command.startswith("retrieval-judge collect"):
            for name in ("anna", "ben"):
                sheet = Path("judging", f"{name}.csv")
                fill(sheet, lambda rows: [row.__setitem__(4, str(n % 2)) for n, row in enumerate(sorted(rows))])
        monkeypatch.setattr("sys.argv", shlex.split(command))
        assert MAINS[command.split()[0]]() == 0, f"{command}: {capsys.readouterr()}"
        out[" ".join(command.split()[:2])] = capsys.readouterr().out
    told = json.loads((desk / "ab" / "results.json").read_text(encoding="utf-8"))
    assert {"reference", "difference", "low", "high", "p", "detectable"} <= told["tests"][0].keys()
    assert {"mean", "low", "high"} <= told["systems"][0]["scores"]["ndcg@10"].keys()
    assert (desk / "ab" / "report.html").exists()
    assert json.loads(out["retrieval-acid my_metrics:evaluate"])["agree"] == 738
    for command in ("retrieval-judge sheet", "retrieval-judge collect"):
        conflict = {"query", "passage", "grades"} if "collect" in command else set()
        assert keys(json.loads(out[command])) - {"schema"} | conflict == documented(command)


def test_python_of_the_guide_runs(desk, monkeypatch):
    """A program would copy code that fails."""
    monkeypatch.syspath_prepend(str(desk))
    for kind, block in BLOCKS:
        if kind == "python":
            exec(compile(block, "tasks.md", "exec"), {})


def test_acid_tells_programs_what_it_tells_people(monkeypatch, capsys):
    """A program would know another number of failures, or not which case to try."""
    monkeypatch.setattr("sys.argv", ["acid", "tests.acid.functions:text", "--json"])
    assert acid.main() == 1
    told = json.loads(capsys.readouterr().out)
    assert keys(told) - {"schema"} == documented("retrieval-acid")
    assert told["offered"] + told["not_offered"] == 738
    case = next(family["smallest"] for family in told["families"] if family["smallest"])
    assert case["verdict"] in ("differs", "refuses", "crashes")
    assert case["run"].keys()


def test_conflicts_are_told_to_programs(desk, monkeypatch, capsys):
    """A program would take a sheet with conflicts for judgements."""
    monkeypatch.chdir(desk)
    command = "sheet my-set --runs a.trec --depth 2 --assessors anna ben --out again --json"
    assert judgements.main(shlex.split(command)) == 0
    capsys.readouterr()
    for name, grade in (("anna", "1"), ("ben", "0")):
        fill(Path("again", f"{name}.csv"), lambda rows, grade=grade: [row.__setitem__(4, grade) for row in rows])
    collect = "collect again/sheet.csv again/anna.csv again/ben.csv --out none.txt --json"
    assert judgements.main(shlex.split(collect)) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["conflicts"][0].keys() == {"query", "passage", "grades"}
    assert (told["judgements"], told["file"]) == (0, "again/conflicts.csv")
    assert not Path("none.txt").exists()
