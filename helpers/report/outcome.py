"""The outcome of a report for continuous integration: JUnit XML, and a summary in Markdown for a pull request."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

import numpy as np

from helpers.report.baseline import Baseline
from helpers.report.gates import Verdict
from helpers.report.names import shown
from helpers.report.page import number, short
from helpers.report.results import Results
from helpers.report.spec import one_line

WORST = 5  # queries shown


def junit(comparison: Results, verdicts: Sequence[Verdict]) -> str:
    """Return JUnit XML: a test case for each system, an error if it failed, and for each gate."""
    suite = Xml.Element("testsuite", name=f"retrieval-report {one_line(comparison.data.name)}")
    for name, result in comparison.results.items():
        case = Xml.SubElement(suite, "testcase", classname="system", name=one_line(name))
        if result.error is not None:
            Xml.SubElement(case, "error", message=one_line(result.error))
    for verdict in verdicts:
        case = Xml.SubElement(suite, "testcase", classname="gate", name=one_line(verdict.gate))
        if not verdict.passed:
            Xml.SubElement(case, "failure", message=one_line(verdict.why()))
    for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        suite.set(key, str(sum(1 for _ in suite.iter(tag))))
    Xml.indent(suite)
    return Xml.tostring(suite, encoding="unicode") + "\n"


def summary(comparison: Results, verdicts: Sequence[Verdict], system: str, baseline: Baseline | None = None) -> str:
    """Return Markdown: the gates, a table of scores, and the five queries on which a system is worst.

    Against a baseline these are the queries that lost most by its first metric. Signs that Markdown or HTML would obey
    are written as character references.
    """
    c = comparison
    lines = [f"### {_plain(c.data.name)}: {'passed' if all(v.passed for v in verdicts) else 'FAILED'}", ""]
    lines += [f"- {'passed' if v.passed else '**FAILED**'}: {_plain(v.why())}" for v in verdicts]
    lines += [f"- **failed**: {_plain(name)}: {_plain(error)}" for name, error in c.failed.items()]
    metrics = list(dict.fromkeys([c.main, *c.metrics]))
    lines += ["", *_table(["system", *map(shown, metrics)], [
        [name, *(number(evaluation.mean[metric]) for metric in metrics)] for name, evaluation in c.scored.items()
    ])]  # fmt: skip
    if system not in c.scored:
        return "\n".join(lines) + "\n"
    metric = next(iter(baseline.scores)) if baseline else c.main
    now = c.scored[system].per_query[metric]
    loss = baseline.scores[metric] - now if baseline else -now
    rows = [row for row in np.argsort(-loss, kind="stable")[:WORST] if not baseline or loss[row] > 0]
    title = f"{'lost most' if baseline else 'have the lowest'} {_plain(shown(metric))}"
    columns = {"before": baseline.scores[metric], "now": now} if baseline else {"now": now}
    listed = [
        [c.data.query_ids[row], short(c.data.queries[row]), *(number(column[row]) for column in columns.values())]
        for row in rows
    ]
    if listed:
        header = ["query", "text", *columns]
        lines += ["", f"Queries of {_plain(system)} that {title}:", "", *_table(header, listed)]
    return "\n".join(lines) + "\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    first, *others = [f"| {' | '.join(map(_plain, row))} |" for row in (header, *rows)]
    return [first, "|" + " --- |" * len(header), *others]


def _plain(text: str) -> str:
    """Write every sign of ASCII that is no letter, digit, space or full stop as a character reference."""
    return re.sub(r"[!-,/:-@\[-`{-~]", lambda sign: f"&#{ord(sign[0])};", one_line(text))
