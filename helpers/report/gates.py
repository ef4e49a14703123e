"""Gates for continuous integration: a score that must be reached, a system that must not be beaten by another."""

import re
from dataclasses import dataclass, field

from helpers.report.page import words
from helpers.report.results import Results


@dataclass(frozen=True)
class Verdict:
    """Whether a gate was passed, and why.

    Attributes:
        passed: whether.
        key: the sentence in the catalogues that says why.
        values: what it is filled with.
    """

    passed: bool
    key: str
    values: dict[str, object] = field(default_factory=dict)

    def why(self, language: str = "en") -> str:
        """Return the reason in a language of the report."""
        return words(language)["gates"][self.key].format_map(self.values)

    def __str__(self) -> str:
        """Return both in a line of English."""
        return f"{'passed' if self.passed else 'FAILED'}: {self.why()}"


def at_least(comparison: Results, candidate: str, metric: str, value: float) -> Verdict:
    """Judge whether the candidate's mean of a metric reaches a value."""
    if candidate not in comparison.scored:
        return Verdict(False, "not_scored", {"name": candidate})
    mean = comparison.scored[candidate].mean[metric]
    values: dict[str, object] = {"metric": metric, "name": candidate, "mean": f"{mean:.4f}", "value": value}
    return Verdict(mean >= value, "at_least" if mean >= value else "below", values)


def not_worse(comparison: Results, candidate: str, other: str, level: float) -> Verdict:
    """Judge by the main metric: worse means a lower mean with a p-value below the level."""
    for name in (candidate, other):
        if name not in comparison.scored:
            return Verdict(False, "not_scored", {"name": name})
    values: dict[str, object] = {"name": candidate, "other": other, "metric": comparison.main, "level": level}
    row = comparison.tests(candidate).get(other)
    if row is None:
        return Verdict(False, "one_query", values)
    worse = row["difference"] < 0 and row["p"] < level
    values |= {"difference": f"{row['difference']:+.4f}", "p": f"{row['p']:.4f}"}
    return Verdict(not worse, "worse" if worse else "not_worse", values)


def read_floor(text: str) -> tuple[str, float]:
    """Read METRIC=VALUE.

    Raises:
        ValueError: another form, or a value outside 0 to 1.
    """
    match = re.fullmatch(r"\s*([A-Za-z_@0-9]+)\s*=\s*([0-9]*\.?[0-9]+|[0-9]+\.)\s*", text)
    if match is None or not 0 <= float(match[2]) <= 1:
        raise ValueError(
            f"--fail-under {text!r}: expected METRIC=VALUE with a value from 0 to 1, such as ndcg@10=0.75."
        )
    return match[1].lower(), float(match[2])
