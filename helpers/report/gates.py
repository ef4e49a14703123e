"""Gates for continuous integration: a score to reach, an earlier report not to fall behind.

An earlier report of the same data and queries is a baseline.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers._io import as_cell
from helpers.data import RetrievalDataset
from helpers.report.page import catalogue, number, p_text, percent
from helpers.report.results import SCHEMA, Comparison, data_digests, shown


class Baseline(NamedTuple):
    """A system of an earlier report: its date, and by metric the scores in the order of the data, (q,)."""

    date: str
    scores: dict[str, np.ndarray]


MARGIN = 0.01  # the smallest difference that matters, unless --margin or --fail-if-drop gives another
MENDED = 0.1  # two shares of judged passages further apart than this explain a difference by themselves


def headline(
    comparison: Comparison, candidate: str, baseline: Baseline | None, margin: float, language: str = "en"
) -> str:
    """Return the verdict on the candidate and what to do next: against its baseline, or the other one of two systems.

    The verdict is that of :func:`helpers.significance.change`. Where much fewer of the first passages of the one behind
    are judged, the advice is to judge these first. Empty where there is nothing to compare with.
    """
    from helpers.significance import change

    w, main, scored = catalogue(language)["verdict"], comparison.main, comparison.scored
    others = [name for name in scored if name != candidate]
    if candidate not in scored or not (baseline or len(others) == 1):
        return ""
    now = scored[candidate]
    if baseline:
        main, other = list(baseline.scores)[-1], w["report_of"].format(date=baseline.date)
        shares, before = (0.0, 0.0), baseline.scores[main]
    else:
        other, judged = others[0], comparison.metrics[-1]
        shares, before = (now.mean[judged], scored[other].mean[judged]), scored[other].per_query[main]
    found = change(before, now.per_query[main], margin)
    behind = shares[1] - shares[0] if found.difference < 0 else shares[0] - shares[1]
    action = "mend" if behind > MENDED else {"better": "ship", "cannot tell": "judge"}.get(found.verdict, "keep")
    values = {
        "name": candidate, "other": other, "metric": shown(main), "difference": number(found.difference),
        "low": number(found.low), "high": number(found.high), "p": p_text(found.p_value), "margin": f"{margin:g}",
        "n": f"{found.more:,}", "ours": percent(shares[0]), "theirs": percent(shares[1]),
    }  # fmt: skip
    return "".join(w[key].format_map(values) for key in (found.verdict, "seen", action))


class Outcome(NamedTuple):
    """What became of a gate, and why, a sentence in the language of the report."""

    name: str  # "passed", "not_passed", or "undecided": too few queries to exclude a loss of the margin
    why: str


def read_baseline(folder: Path, data: RetrievalDataset, system: str, metrics: Sequence[str]) -> Baseline:
    """Read the scores of a system, or of the only one, from the folder of an earlier report on the same data."""
    path, table = folder / "results.json", folder / "per_query.csv"
    try:
        record = json.loads(path.read_bytes())
        theirs, date, known, schema = record["data"], record["made_with"]["date"], record["metrics"], record["schema"]
        with table.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"No file {error.filename!r}: expected the folder of a report.") from None
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{str(path)!r} is no result of a report ({error!r}): give the folder of one.") from None
    if schema != SCHEMA:
        raise ValueError(f"{path.name} has schema {schema}, this report {SCHEMA}: write that report again.")
    if missing := [metric for metric in metrics if metric not in known]:
        raise ValueError(
            f"not comparable: {str(path)!r} has no {missing[0]}, only {', '.join(known)}: write it again with that one."
        )
    for key, digest in data_digests(data).items():
        if theirs.get(key) != digest:
            raise ValueError(
                f"not comparable: the baseline evaluated other data ({theirs['name']!r}, {key} "
                f"{str(theirs.get(key))[:12]}, here {digest[:12]}). Write it again on these data."
            )
    if (level := theirs["relevance_level"]) != data.relevance_level:
        raise ValueError(
            f"not comparable: passages counted as relevant from grade {level} on, here from {data.relevance_level}."
        )
    names = list(dict.fromkeys(row["system"] for row in rows))
    name = names[0] if len(names) == 1 else as_cell(system)
    if name not in names:
        others = f"but {', '.join(names)}: name this one alike, ?name=…." if names else "nor another: all failed."
        raise ValueError(f"The baseline has no system {system!r} {others}")
    by_query = {row["query"]: row for row in rows if row["system"] == name}
    own = [by_query[as_cell(query)] for query in data.query_ids]
    return Baseline(date, {metric: np.array([float(row[metric]) for row in own]) for metric in metrics})


def at_least(comparison: Comparison, candidate: str, metric: str, value: float, language: str = "en") -> Outcome:
    """Judge whether the candidate's mean of a metric reaches a value."""
    sentences = catalogue(language)["gates"]
    if candidate not in comparison.scored:
        return Outcome("not_passed", sentences["not_scored"].format(name=candidate))
    mean = comparison.scored[candidate].mean[metric]
    sentence = sentences["at_least" if mean >= value else "below"]
    why = sentence.format(metric=metric, name=candidate, mean=f"{mean:.4f}", value=value)
    return Outcome("passed" if mean >= value else "not_passed", why)


def no_drop(
    comparison: Comparison,
    candidate: str,
    baseline: Baseline,
    metric: str,
    margin: float,
    alpha: float,
    language: str = "en",
) -> Outcome:
    """Judge whether the candidate's mean of a metric fell since an earlier report on the same queries.

    The gate fails if a drop is shown and a loss of the margin or more is not excluded. The first is the one-sided
    paired randomisation test at ``alpha``, the second a test of non-inferiority at ``alpha``, see
    :func:`helpers.significance.noninferiority_test`. If nothing changed but chance, it fails in at most ``alpha`` of
    runs; the outcome names the drop that it notices four times in five.
    """
    from helpers.significance import minimum_detectable_difference, noninferiority_test, paired_test

    sentences = catalogue(language)["gates"]
    if candidate not in comparison.scored:
        return Outcome("not_passed", sentences["not_scored"].format(name=candidate))
    now, before = comparison.scored[candidate].per_query[metric], baseline.scores[metric]
    test, sd = paired_test(now, before), float((now - before).std(ddof=1))
    p = test.p_value / 2 if test.difference < 0 else 1 - test.p_value / 2
    excluded = margin > 0 and noninferiority_test(now, before, margin, alpha).p_value < alpha
    dropped = p < alpha and not excluded
    why = sentences["dropped" if dropped else "excluded" if excluded else "no_drop"].format(
        name=candidate, metric=shown(metric), date=baseline.date, now=number(now.mean()), before=number(before.mean()),
        p=p_text(p), margin=f"{margin:g}", alpha=f"{alpha:.3g}",
        detectable=number(sd and minimum_detectable_difference(sd, len(now), 2 * alpha)),
    )  # fmt: skip
    return Outcome("not_passed" if dropped else "passed" if excluded or not margin else "undecided", why)
