"""Run the acid test on other libraries and record what came of it: `python -m tests.acid.scoreboard`, or `make acid`.

Needs the libraries of `tests/acid/libraries.txt`, Node.js, and R with its package Metrics; what is missing keeps its
place in the record with the date on which it was asked. Each family of a library gets the gravest verdict of its cases:

    agrees        documented     the library says so itself: tests/acid/documented.toml has its words
    refuses       undocumented   another value, and no word about it        crashes
"""

from __future__ import annotations

import datetime
import importlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from helpers.metrics.acid import Judged, Verdict, read_cases, read_json, run_cases

FOLDER = Path(__file__).parent
RECORD = FOLDER.parents[1] / "docs" / "benchmarks" / "acid.json"
RUNNERS = ("ours", "trec", "ir_measures_", "mteb_", "beir_", "ranx_", "sentence_transformers_", "torchmetrics_",
           "llama_index_", "haystack_", "sklearn_", "ir_evaluation_", "page", "r_metrics")  # fmt: skip
ORDER = ("agrees", "documented", "refuses", "undocumented", "crashes")


def documented(runner: str, result: Judged, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The library's own words on a case that differs, if there are any."""
    places = {result.case.family, f"{result.case.family}/{result.case.scenario}"}
    name = result.case.metric.partition("@")[0]
    for entry in entries:
        meant = result.answer.startswith(entry["error"]) if "error" in entry else result.verdict is Verdict.DIFFERS
        if meant and entry["runner"] == runner and places & set(entry["on"]) and name in entry.get("metrics", [name]):
            return entry
    return None


def shown(result: Judged) -> dict[str, Any]:
    """A case that failed, as the page shows it."""
    case = result.case
    run = {query: {doc: repr(score) for doc, score in docs.items()} if isinstance(docs, dict) else docs
           for query, docs in case.run.items()}  # fmt: skip
    return {"case": case.name, "answer": result.answer, "expected": case.exact or "an error", "run": run,
            "qrels": case.qrels, "why": case.why}  # fmt: skip


def family_row(runner: str, results: list[Judged], entries: list[dict[str, Any]]) -> dict[str, Any]:
    """How many cases of a family agree, the gravest verdict, and the smallest case that has it."""
    asked = [result for result in results if result.verdict is not Verdict.NOT_OFFERED]
    if not asked:
        return {"asked": 0}
    by_verdict: dict[str, list[tuple[Judged, dict[str, Any] | None]]] = {}
    for result in asked:
        words = documented(runner, result, entries) if result.verdict is not Verdict.AGREES else None
        plain = {"differs": "undocumented"}.get(result.verdict, str(result.verdict))
        by_verdict.setdefault(words["verdict"] if words else plain, []).append((result, words))
    gravest = max(by_verdict, key=ORDER.index)
    row = {"asked": len(asked), "agree": len(by_verdict.get("agrees", [])), "verdict": gravest}
    if gravest != "agrees":
        result, words = min(by_verdict[gravest], key=lambda pair: pair[0].case.size)
        row |= shown(result) | ({"quote": words["quote"], "source": words["source"]} if words else {})
    return row


def version(package: str) -> str:
    """The installed version; of what is part of this repository or of R, as they say themselves."""
    if package.startswith("R "):
        command = ["Rscript", "-e", f"cat(as.character(packageVersion('{package[2:]}')))"]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    if package.startswith(("helpers", "docs/")):
        project = (FOLDER.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
        return re.search(r'^version = "(.+)"', project, re.M)[1]
    return importlib.metadata.version(package)


def measured(runner: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry of one library. Raises ImportError or OSError if it is not installed."""
    module = importlib.import_module(f"tests.acid.runners.{runner}")
    results = run_cases(f"tests.acid.runners.{runner}:evaluate", read_cases(), limit=60)
    families = {
        family: family_row(runner, [result for result in results if result.case.family == family], entries)
        for family in read_json("suite")["families"]
    }
    return {"language": getattr(module, "LANGUAGE", "Python"), "version": version(module.PACKAGE),
            "date": datetime.date.today().isoformat(), "families": families}  # fmt: skip


def main() -> None:
    """Ask every library that is installed, and write the record."""
    entries = tomllib.loads((FOLDER / "documented.toml").read_text(encoding="utf-8"))["words"]
    libraries = json.loads(RECORD.read_text(encoding="utf-8"))["libraries"] if RECORD.exists() else {}
    suite = {key: read_json("suite")[key] for key in ("version", "sha256")}
    for runner in sys.argv[1:] or RUNNERS:
        text = (FOLDER / "runners" / f"{runner}.py").read_text(encoding="utf-8")
        package = re.search(r'^PACKAGE = "(.+)"', text, re.M)[1]
        try:
            libraries[package] = measured(runner, entries)
        except (ImportError, OSError) as error:
            print(f"{package}: not asked, {error}")
            continue
        rows = libraries[package]["families"].values()
        print(f"{package}: {sum(row.get('agree', 0) for row in rows)} of {sum(row['asked'] for row in rows)} agree")
        record = {"command": "make acid", "suite": suite, "libraries": libraries}
        RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
