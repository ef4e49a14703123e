"""Write the cases of the acid test: `python -m tests.acid.generate`.

A scenario is a run, judgements and a reason; with each metric and cutoff it makes a case. What the case must give is
worked out by `tests.acid.reference`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.acid.reference import METRICS, Grades, Ranking, exact
from tests.acid.scenarios import FAMILIES, Scenario

ROOT = Path(__file__).parents[2]
CASES = ROOT / "helpers" / "metrics" / "acid" / "cases"
VERSION = "1.0.0"


def of_json(number: float) -> float | str:
    """A number as strict JSON has it: "Infinity", "-Infinity" and "NaN" are text."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def of_run(run: Mapping[str, Ranking]) -> dict[str, Any]:
    """A run as strict JSON."""
    return {
        query: {doc: of_json(score) for doc, score in ranking.items()} if isinstance(ranking, Mapping) else ranking
        for query, ranking in run.items()
    }


def values(scenario: Scenario) -> dict[str, Any]:
    """What each metric must give: closed form and double, or nothing where an error is the answer."""
    run: Mapping[str, Ranking] = scenario.run
    qrels: Mapping[str, Grades] = scenario.qrels
    metrics = [f"{name}@{k}" for k in scenario.cutoffs for name in METRICS]
    if scenario.answer == "error":
        return dict.fromkeys(metrics)
    return {metric: dict(zip(("exact", "double"), exact(run, qrels, metric), strict=True)) for metric in metrics}


def files() -> dict[str, str]:
    """The text of every file of the suite, by its name."""
    made = {}
    for family, (names, scenarios) in FAMILIES.items():
        entries = [
            {
                "id": scenario.name,
                "why": {"en": scenario.en, "zh": scenario.zh},
                "source": scenario.source,
                "convention": scenario.convention,
                "answer": scenario.answer,
                "qrels": scenario.qrels,
                "run": of_run(scenario.run),
                "values": values(scenario),
            }
            for scenario in scenarios
        ]
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in entries)
        head = json.dumps({"family": family, "title": names}, ensure_ascii=False)[:-1]
        made[f"{family}.json"] = f'{head}, "scenarios": [\n{lines}\n]}}\n'
    digest = hashlib.sha256("".join(made.values()).encode()).hexdigest()
    suite = {"version": VERSION, "sha256": digest, "families": list(FAMILIES)}
    return made | {"suite.json": json.dumps(suite, indent=2) + "\n"}


def main() -> None:
    """Write the files."""
    for name, text in files().items():
        (CASES / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
