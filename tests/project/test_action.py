"""The steps of the action that people put into their workflows, run as they are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FILE = Path(__file__).parents[2] / ".github" / "actions" / "retrieval-gate" / "action.yml"
ACTION = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def evaluate(folder, options, baseline=""):
    """Run the step that evaluates; the first step installs what is installed here."""
    step = ACTION["runs"]["steps"][1]
    given = {key: value.get("default", "") for key, value in ACTION["inputs"].items()}
    given |= {"options": options, "baseline": baseline}
    values = {name: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)[1]] for name, text in step["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | values | {"PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="the action's shell is bash")
def test_the_steps_evaluate_compare_and_fail(tmp_path):
    """A workflow would pass whatever the scores are, lose a name with spaces, or run what a name says."""
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(12)), encoding="utf-8")
    for name, shift in (("the good.trec", 0), ("bad $(touch pwned).trec", 1)):
        lines = (f"q{n} Q0 d{n + shift} 1 1.0 x\n" for n in range(12))
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    done = evaluate(tmp_path, "--qrels qrels\n--system the good.trec?name=mine\n--metrics ndcg@1\n")
    assert done.returncode == 0, done.stderr
    (tmp_path / "retrieval-report").rename(tmp_path / "earlier")
    worse = "--qrels qrels\n--system bad $(touch pwned).trec?name=mine\n\n--metrics ndcg@1\n--fail-if-drop ndcg@1=0.01"
    done = evaluate(tmp_path, worse, "earlier")
    assert done.returncode == 3, done.stderr
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.count("gate: FAILED: nDCG@1 of mine fell") == 1
    assert all(line.startswith("    ") for line in text.splitlines()), "a name could be Markdown"
    assert not (tmp_path / "pwned").exists()
    assert evaluate(tmp_path, "--qrels gone\n--system the good.trec", "").returncode == 1


def test_nothing_given_is_part_of_a_command():
    """Whoever names a branch or a file could run a command in the workflow."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
