"""Gates for continuous integration: a score that must be reached, a system that must not be beaten by another."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from helpers.systems import Comparison


@dataclass(frozen=True)
class Verdict:
    """Whether a gate was passed, and why, in one line."""

    passed: bool
    why: str

    def __str__(self) -> str:
        """Say both."""
        return f"{'passed' if self.passed else 'FAILED'}: {self.why}"


class Gate(Protocol):
    """Something that a comparison has to fulfil."""

    def verdict(self, comparison: "Comparison") -> Verdict:
        """Judge a comparison."""


@dataclass(frozen=True)
class Floor:
    """The candidate's mean of a metric must reach a value."""

    candidate: str
    metric: str
    value: float

    def verdict(self, comparison: "Comparison") -> Verdict:
        """Compare the mean with the value."""
        if self.candidate not in comparison.scored:
            return Verdict(False, f"{self.candidate} was not scored")
        mean = comparison.scored[self.candidate].mean[self.metric]
        relation = "is at least" if mean >= self.value else "is below"
        return Verdict(mean >= self.value, f"{self.metric} of {self.candidate}, {mean:.4f}, {relation} {self.value}")


@dataclass(frozen=True)
class NotWorse:
    """The candidate must not be significantly worse than another system by the main metric."""

    candidate: str
    other: str
    level: float

    def verdict(self, comparison: "Comparison") -> Verdict:
        """Test the difference: worse means a lower mean with a p-value below the level."""
        for name in (self.candidate, self.other):
            if name not in comparison.scored:
                return Verdict(False, f"{name} was not scored")
        test = comparison.tests(self.candidate).get(self.other)
        if test is None:
            return Verdict(False, f"{self.candidate} and {self.other} cannot be compared on fewer than two queries")
        worse = test.difference < 0 and test.p_value < self.level
        relation = "significantly worse" if worse else "not significantly worse"
        return Verdict(
            not worse,
            f"{self.candidate} is {relation} than {self.other} by {comparison.main} (difference "
            f"{test.difference:+.4f}, p {test.p_value:.4f}, level {self.level})",
        )


def read_floor(text: str) -> tuple[str, float]:
    """Read METRIC=VALUE.

    Raises:
        ValueError: another form, or a value outside 0 to 1.
    """
    match = re.fullmatch(r"\s*([A-Za-z_@0-9]+)\s*=\s*([0-9.]+)\s*", text)
    try:
        value = float(match[2]) if match else -1.0
    except ValueError:
        value = -1.0
    if match is None or not 0 <= value <= 1:
        raise ValueError(
            f"--fail-under {text!r}: expected METRIC=VALUE with a value from 0 to 1, such as ndcg@10=0.75."
        )
    return match[1].lower(), value
