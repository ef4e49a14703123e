"""Exercises that answer: `check` says whether a function is right, or which known wrong formula it computes.

_formulas.py has the right and the wrong formulas, inputs.py their arguments, words/ the sentences, a file a language.
Needs the standard library alone, so it runs in a browser too.
"""

import copy
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from numbers import Real

from helpers._io import default_language
from helpers.exercises._formulas import EXERCISES
from helpers.exercises.inputs import ARGUMENTS, INPUTS

__all__ = ["EXERCISES", "Feedback", "check"]


@dataclass(frozen=True)
class Feedback:
    """Whether an answer is right, the known mistake in it (if any), and both in words, which a notebook shows."""

    right: bool
    mistake: str | None
    text: str

    def __repr__(self) -> str:
        """The words alone, as a notebook shows them below a cell."""
        return self.text


def check(exercise: str, answer: Callable[..., object], *, language: str | None = None) -> Feedback:
    """Say whether `answer` solves an exercise, which known wrong formula it computes, or where it first errs.

    The verdict never contains the right value or the right formula. Numbers are equal if they differ by less than
    1e-9. Let a program decide with `.right`: `assert check("recall", recall).right`.

    Args:
        exercise: one of `EXERCISES`. The page "Exercises that answer" says what each asks and which arguments it gets.
        answer: a function of these arguments. It is called on some dozens of small inputs, copies that it may change.
        language: of the sentences, "en" or "zh"; by default that of EVAL_LANGUAGE or of the locale.
    """
    if exercise not in EXERCISES:
        raise ValueError(f"there is no exercise {exercise!r}, only {', '.join(EXERCISES)}.")
    language = language or default_language()
    if language not in ("en", "zh"):
        raise ValueError(f'language must be "en" or "zh", not {language!r}.')
    words = tomllib.loads(files(__name__).joinpath(f"words/{language}.toml").read_text(encoding="utf-8"))
    arguments, right, mistakes = EXERCISES[exercise]
    inputs = sorted(INPUTS[arguments], key=lambda values: len(repr(values)))  # the shortest that fails is shown
    returned, errors = {}, {}
    for row, values in enumerate(inputs):
        try:
            returned[row] = answer(*copy.deepcopy(values))
        except Exception as error:  # whatever a reader's code raises
            errors[row] = f"{type(error).__name__}: {error}"
    expected = [right(*values) for values in inputs]
    wrong = [row for row, value in returned.items() if not same(value, expected[row])]
    if not wrong and not errors:
        return Feedback(True, None, words["right"].format(exercise=exercise, inputs=len(inputs)))

    def shown(row: int) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in zip(ARGUMENTS[arguments], inputs[row], strict=True))

    mistake, sentences = None, [words["wrong"].format(exercise=exercise)]
    if wrong:
        agree = (
            name
            for name, formula in mistakes.items()
            if all(same(value, formula(*inputs[row])) for row, value in returned.items())
        )
        mistake = next(agree, None) if len(returned) > len(errors) else None
        row, value = wrong[0], returned[wrong[0]]
        if mistake is not None:
            sentences.append(words["mistakes"][mistake])
        elif kind(value) == kind(expected[row]):
            sentences.append(words["value"].format(value=value, input=shown(row)))
        else:
            sentences.append(words["type"].format(value=value, expected=words[kind(expected[row])]))
    if errors:
        row = next(iter(errors))
        sentences.append(words["error"].format(error=errors[row], input=shown(row)))
    return Feedback(False, mistake, words["space"].join(sentences))


def kind(value: object) -> str:
    """A value's key in the words: number, set, list or other."""
    if isinstance(value, (set, frozenset)):
        return "set"
    if isinstance(value, Real):
        return "number"
    return "list" if isinstance(value, (list, tuple)) or hasattr(value, "tolist") else "other"


def same(value: object, expected: object) -> bool:
    """Whether two values are equal, numbers up to 1e-9, lists item by item."""
    if isinstance(value, Real) and isinstance(expected, Real):
        return math.isclose(value, expected, rel_tol=0, abs_tol=1e-9)
    if kind(value) == "list" and isinstance(expected, list):
        items = list(value)  # type: ignore[call-overload]
        return len(items) == len(expected) and all(map(same, items, expected))
    return bool(value == expected)
