"""Write the values and the digest of the acid test's cases: `python -m tests.acid.generate`.

A scenario is a line of a file in helpers/metrics/acid/cases: judgements, a run and a reason. A new one names the
metrics that it asks for without their values, which `tests.acid.reference` works out.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tests.acid.reference import exact

CASES = Path(__file__).parents[2] / "helpers" / "metrics" / "acid" / "cases"


def files() -> dict[str, str]:
    """The text of every file of the suite, by its name."""
    suite, made = json.loads((CASES / "suite.json").read_text(encoding="utf-8")), {}
    for name in (f"{family}.json" for family in suite["families"]):
        family = json.loads((CASES / name).read_text(encoding="utf-8"))
        for entry in family["scenarios"]:
            run = {query: scored(ranking) for query, ranking in entry["run"].items()}
            for metric in entry["values"] if entry["answer"] != "error" else ():
                pair = zip(("exact", "double"), exact(run, entry["qrels"], metric), strict=True)
                entry["values"][metric] = dict(pair)
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in family.pop("scenarios"))
        head = json.dumps(family, ensure_ascii=False)[:-1]
        made[name] = f'{head}, "scenarios": [\n{lines}\n]}}\n'
    suite["sha256"] = hashlib.sha256("".join(made.values()).encode()).hexdigest()
    return made | {"suite.json": json.dumps(suite, indent=2) + "\n"}


def scored(ranking: list[str] | dict[str, float | str]) -> list[str] | dict[str, float]:
    """A ranking with its scores as numbers: strict JSON has "Infinity", "-Infinity" and "NaN" as text."""
    return ranking if isinstance(ranking, list) else {doc: float(score) for doc, score in ranking.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (CASES / name).write_text(text, encoding="utf-8", newline="\n")
