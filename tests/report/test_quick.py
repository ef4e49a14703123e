"""A report from runs and judgements alone starts without the libraries that it does not need."""

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SLOW = {"torch", "transformers", "FlagEmbedding", "datasets", "matplotlib", "pandas", "pyarrow"}
SCRIPT = """
import sys
from helpers.report import main
status = main(sys.argv[1:])
print("loaded:", *(name for name in sys.modules if "." not in name))
sys.exit(status)
"""


def test_runs_alone_load_no_slow_library(tmp_path):
    """A page of counts would take ten seconds, and a machine without torch could not write it."""
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 b 2\n2 0 c 0\n", encoding="utf-8")
    for name, order in (("one", "ab"), ("two", "ba"), ("three", "bc")):
        lines = [f"{q} Q0 {d} {r} {9 - r} x\n" for q in "12" for r, d in enumerate(order, 1)]
        (tmp_path / f"{name}.trec").write_text("".join(lines), encoding="utf-8")
    runs = sorted(map(str, tmp_path.glob("*.trec")))
    options = ["--qrels", str(tmp_path / "qrels"), "--fail-under", "ndcg@2=0.1", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", SCRIPT, "--system", *runs, *options]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    loaded = done.stdout.partition("loaded:")[2].split()
    assert "numpy" in loaded
    assert not SLOW & set(loaded)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [Requirement(line).name for line in extras["dependencies"] + extras["optional-dependencies"]["runs"]]
    brought = {canonicalize_name(name) for name in direct}
    brought |= {canonicalize_name(Requirement(line).name) for name in direct for line in requires(name) or []}
    owners = packages_distributions()
    packages = {canonicalize_name(owner) for name in loaded for owner in owners.get(name, [])}
    optional = {"charset-normalizer", "setuptools"}  # numpy.f2py takes the first if it is there; the second's .pth runs
    assert packages - brought - optional == {"retrieval-evaluation-tutorial"}
