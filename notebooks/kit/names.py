"""What prose names: the row and column that a figure belongs to, and the same systems and metrics in both languages.

A figure belongs to a row and a column, whose labels (in Chinese those of docs/labels.yml, and the other words that its
`aliases` give) are looked for in the sentence around it. Either the label nearest to each figure is its own, or the
labels come in the order of the figures; else somebody has swapped or replaced a name.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from .markdown import COMMENT, LINK, URL

NAME = re.compile(r"(?<![\w@./+-])(?=[\w@./+-]*(?:\d|\w[A-Z]))[A-Za-z](?:[\w@./+-]*\w)?", re.A)
_UNITS = ("gb", "mb", "tb", "sd", "id")  # Chinese has words for them at times
_PARTS = re.compile(r"[,;:/] ?")


class Mention(NamedTuple):
    """Where a sentence names one of the rows, or columns, of a table, and which of them the word may stand for."""

    start: int
    end: int
    labels: frozenset[str]


@lru_cache(maxsize=8)
def _synonyms(path: Path, _changed: float) -> dict[str, list[str]]:
    lists = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    words = {label: [chinese] for label, chinese in lists["labels"].items()}
    for label, aliases in lists.get("aliases", {}).items():
        words[label] = words.get(label, []) + aliases
    return words


@lru_cache(maxsize=1024)
def _words(root: Path, labels: frozenset[str]) -> tuple[re.Pattern[str], dict[str, frozenset[str]]]:
    path = root / "docs" / "labels.yml"
    synonyms = _synonyms(path, path.stat().st_mtime_ns) if path.exists() else {}
    meanings: dict[str, set[str]] = {word.lower(): set() for word in synonyms.get("", [])}
    for label in labels:
        parts = [label, *_PARTS.split(label)]
        others = [text for part in parts for text in synonyms.get(part, [])]
        for word in [*parts, *others, *(word for text in others for word in text.split("，"))]:
            meanings.setdefault(word if len(word) == 1 else word.lower(), set()).add(label)
    telling = {
        word: frozenset(owners if len(owners) < len(labels) else ()) for word, owners in meanings.items() if word
    }
    longest = sorted(telling, key=len, reverse=True)
    forms = (re.escape(word) if len(word) == 1 else f"(?i:{re.escape(word)})" for word in longest)
    words = (rf"(?<![A-Za-z\d@.,]){form}(?![A-Za-z\d@]|[.,]\d)" if form.isascii() else form for form in forms)
    return re.compile("|".join(words) or "(?!)"), telling


def mentions(sentence: str, labels: frozenset[str], root: Path) -> list[Mention]:
    """Return where a sentence names one of several labels, in order."""
    pattern, telling = _words(root, labels)
    words = (
        (match.span(), match[0] if len(match[0]) == 1 else match[0].lower()) for match in pattern.finditer(sentence)
    )
    return [Mention(*span, telling[word]) for span, word in words if telling[word]]


def swapped(figures: list[tuple[int, str]], named: list[Mention]) -> str:
    """Return the label of a figure that the sentence gives to another one, empty if it does not.

    figures are places in the sentence and labels. A sentence that names fewer labels than its figures have says the
    rest in other words, and is passed over as long as one of them is named.
    """
    nearest = [(min(named, key=lambda m: max(m.start - at, at - m.end)), label) for at, label in figures]
    wrong = [label for mention, label in nearest if label not in mention.labels]
    place, in_order = 0, True
    for _, label in figures:
        places = [number for number, mention in enumerate(named) if number >= place and label in mention.labels]
        place, in_order = (places[0], in_order) if places else (place, False)
    labels = {label for _, label in figures}
    fewer = len({mention.labels for mention in named}) < len(labels) and len(wrong) < len(figures)
    return "" if not wrong or in_order or fewer else wrong[0]


def names(line: str) -> list[str]:
    """Return the names of a line of Markdown, without their plural: words with a digit or a capital inside."""
    text = re.sub(rf"\$[^$]*\$|{URL.pattern}", " ", LINK.sub(lambda match: match[2], COMMENT.sub(" ", line)))
    found = (re.sub(r"(?<=[A-Z])s$|_zh", "", match[0]).lower() for match in NAME.finditer(text))
    return [name for name in found if name not in _UNITS]


def missing_names(english: str, chinese: str) -> Iterator[str]:
    """Yield each name of an English line that its Chinese does not have, or not in that order; it may have more.

    Metrics with a cutoff are one order, all other names another: "BM25 in nDCG@10" is "nDCG@10 of BM25" in Chinese.
    """
    for metrics in (True, False):
        rest = iter([name for name in names(chinese) if ("@" in name) is metrics])
        yield from [name for name in names(english) if ("@" in name) is metrics and name not in rest][:1]
