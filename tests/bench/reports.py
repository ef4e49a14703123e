"""How every report in docs/benchmarks begins, and how it is kept. Loads nothing that would count as memory."""

import json
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"


def head(name: str, packages: tuple[str, ...], rounds: int) -> dict[str, Any]:
    """Say by which command, when, where and with which versions the report called name is measured."""
    versions = {package: version(package).split("+")[0] for package in packages}
    return {
        "command": f"python -m tests.bench.bench_{name}",
        "date": date.today().isoformat(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), **versions},
        "rounds": rounds,
    }


def save(name: str, report: dict[str, Any]) -> None:
    """Write a report to docs/benchmarks/NAME.json, draw its charts beside it, and print it."""
    from tests.bench import charts  # not above: what is imported there counts as memory

    text = json.dumps(report, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    if name in charts.CHARTS:
        charts.draw(name, FOLDER)
    print(text)
