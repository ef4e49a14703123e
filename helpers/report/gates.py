"""Gates for continuous integration: a score to reach, a system or an earlier report not to fall behind."""

import re
from dataclasses import dataclass, field

from helpers.report.baseline import Baseline
from helpers.report.names import shown
from helpers.report.page import number, p_text, words
from helpers.report.results import Results


@dataclass(frozen=True)
class Verdict:
    """Whether a gate was passed, and why.

    Attributes:
        passed: whether.
        key: the sentence in the catalogues that says why.
        values: what it is filled with.
        gate: a short name, the same in every run.
    """

    passed: bool
    key: str
    values: dict[str, object] = field(default_factory=dict)
    gate: str = ""

    def why(self, language: str = "en") -> str:
        """Return the reason in a language of the report."""
        return words(language)["gates"][self.key].format_map(self.values)

    def __str__(self) -> str:
        """Return both in a line of English."""
        return f"{'passed' if self.passed else 'FAILED'}: {self.why()}"


def at_least(comparison: Results, candidate: str, metric: str, value: float) -> Verdict:
    """Judge whether the candidate's mean of a metric reaches a value."""
    gate = f"{candidate}: {metric} at least {value:g}"
    if candidate not in comparison.scored:
        return Verdict(False, "not_scored", {"name": candidate}, gate)
    mean = comparison.scored[candidate].mean[metric]
    values: dict[str, object] = {"metric": metric, "name": candidate, "mean": f"{mean:.4f}", "value": value}
    return Verdict(mean >= value, "at_least" if mean >= value else "below", values, gate)


def not_worse(comparison: Results, candidate: str, other: str, level: float) -> Verdict:
    """Judge by the main metric: worse means a lower mean with a p-value below the level."""
    gate = f"{candidate}: not worse than {other}"
    for name in (candidate, other):
        if name not in comparison.scored:
            return Verdict(False, "not_scored", {"name": name}, gate)
    values: dict[str, object] = {"name": candidate, "other": other, "metric": comparison.main, "level": level}
    row = comparison.tests(candidate).get(other)
    if row is None:
        return Verdict(False, "one_query", values, gate)
    worse = row["difference"] < 0 and row["p"] < level
    values |= {"difference": f"{row['difference']:+.4f}", "p": f"{row['p']:.4f}"}
    return Verdict(not worse, "worse" if worse else "not_worse", values, gate)


def no_drop(
    comparison: Results, candidate: str, baseline: Baseline, metric: str, margin: float, alpha: float
) -> Verdict:
    """Judge whether the candidate's mean of a metric fell since an earlier report on the same queries.

    The gate fails if a drop is shown and a loss of the margin or more is not excluded. The first is the one-sided
    paired randomisation test at ``alpha``, the second a test of non-inferiority at ``alpha``, see
    :func:`helpers.significance.noninferiority_test`. If nothing changed but chance, it fails in at most ``alpha`` of
    runs; what it misses is in the verdict: the drop that it notices four times in five.
    """
    from helpers.significance import minimum_detectable_difference, noninferiority_test, paired_test

    gate = f"{candidate}: no drop of {metric}" + (f" by {margin:g}" if margin else "")
    if candidate not in comparison.scored:
        return Verdict(False, "not_scored", {"name": candidate}, gate)
    now, before = comparison.scored[candidate].per_query[metric], baseline.scores[metric]
    if len(now) < 2:
        return Verdict(False, "one_query", {"name": candidate, "other": "--baseline"}, gate)
    test, sd = paired_test(now, before), float((now - before).std(ddof=1))
    p = test.p_value / 2 if test.difference < 0 else 1 - test.p_value / 2
    excluded = margin > 0 and noninferiority_test(now, before, margin, alpha).p_value < alpha
    values: dict[str, object] = {
        "name": candidate, "metric": shown(metric), "date": baseline.date,
        "now": number(now.mean()), "before": number(before.mean()),
        "difference": number(test.difference), "p": p_text(p), "margin": f"{margin:g}", "alpha": f"{alpha:.3g}",
        "detectable": number(sd and minimum_detectable_difference(sd, len(now), 2 * alpha)),
    }  # fmt: skip
    dropped = p < alpha and not excluded
    return Verdict(not dropped, "dropped" if dropped else "excluded" if excluded else "no_drop", values, gate)


def read_gate(option: str, text: str, default: float | None = None) -> tuple[str, float]:
    """Read METRIC=VALUE, or METRIC alone where there is a default.

    Raises:
        ValueError: another form, or a value outside 0 to 1.
    """
    match = re.fullmatch(r"\s*(\w+(?:\([^()]*\))?(?:@\w+)?)\s*(?:=\s*([0-9]*\.?[0-9]+|[0-9]+\.)\s*)?", text)
    if match is None or (match[2] is None and default is None) or not 0 <= float(match[2] or 0) <= 1:
        form = "METRIC=VALUE" if default is None else "METRIC or METRIC=VALUE"
        raise ValueError(f"{option} {text!r}: expected {form} with a value from 0 to 1, such as ndcg@10=0.01.")
    return match[1].lower(), float(match[2]) if match[2] else default or 0.0
