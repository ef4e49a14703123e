"""Compare words with the figures beside them, and with the other language: names and directions.

A figure belongs to a row and a column, whose labels (in Chinese those of docs/labels.yml, and the other words that its
`aliases` give) are looked for in the sentence around it. Either the label nearest to each figure is its own, or the
labels come in the order of the figures; else somebody has swapped or replaced a name.

"Falls from 0.8 to 0.9" is noticed, and so is "above" before a claim of `<`: a claim is written the way its words say,
`<!--holds: 'pocket/static' < 'pocket/BM25'-->` behind "static stays below BM25", `rises('recall/*')` behind "never
falls". Only the words since the last punctuation mark count. Where they point both ways or nowhere, or the claim does,
nothing is compared. A sentence and its translation are compared by pairs of opposite words.
"""

import ast
import itertools
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .listed import read_yaml
from .markdown import COMMENT, LINK, URL

NAME = re.compile(r"(?<![\w@./+-])(?=[\w@./+-]*(?:\d|\w[A-Z]))[A-Za-z](?:[\w@./+-]*\w)?", re.A)
_UNITS = ("gb", "mb", "tb", "sd", "id")  # Chinese has words for them at times
_PARTS = re.compile(r"[,;:/] ?")
_FALL = r"\b(?:falls?|fell|drops?|dropped|sinks?|decreases?)\b"
_RISE = r"\b(?:rises?|rose|climbs?|climbed|increases?|raises?|lifts?)\b"
_WORDS = {
    "<": re.compile(
        rf"{_FALL}|\b(?:below|behind|lower|worse|(?:less|fewer|smaller) than)\b"
        r"|低于|更低|还低|不如|落后|更差|变差|更糟|更小|还小|下降|降到|降低",
        re.I,
    ),
    ">": re.compile(
        rf"{_RISE}|\b(?:above|ahead|higher|better|beats?|(?:more|greater|larger) than)\b"
        r"|高于|更高|还高|胜过|强于|好于|优于|(?<!的)领先|更好|变好|更大|还大|上升|升到|提高",
        re.I,
    ),
}
_OPPOSITES = (  # English words for more and for less, and the Chinese that their translations use
    (r"high(?:er|est)?|ris(?:es?|ing)|rose|climbs?|increas\w*|grows?|raises?|exceeds?|at least",
     r"low(?:er|est)?|falls?|fell|dropp(?:ed|ing)|decreas\w*|shrinks?|at most",
     r"高|上升|升|涨|增|超过|以上|大于|至少|不低于|越大|扩大|领先|好",
     r"低|下降|降|跌|减|下端|不到|没有达到|够不上|以下|小于|至多|最多|不超过|不高于|下限|不可能|(?<!不)差(?![值别异距])"),
    (r"ahead(?! of its)|wins?|beats?", r"lost to", r"领先|胜|赢|超过|高|好", r"落后|不如|低|输|坏|糟"),
    (r"better|best", r"worse|worst", r"最?好|优|佳|高|最(?![差好糟])|胜|强|领先", r"最?差(?![值别异距])|糟|坏|低|不如"),
    (r"more|most|larger|largest|large|bigger|big|longer|longest|long",
     r"(?<!at )least(?! of all)|fewer|fewest|smaller|smallest|small|shorter|shortest|short",
     r"最小也|[最更]?[多大长]|[更最越](?![多大长少小短低])|超|很|较|又|还|另|以上|远", r"少|小|短|低|一点|不足"),
    (r"fast(?:er|est)?|quick(?:er|ly)?", r"slow(?:er|est|ly)?", r"快|省", r"慢"),
    (r"above", r"below", r"上|高|超|大于|以前|前", r"下|低|小于|不到|以内|不足|不可能小|后|不如"),
    (r"before|earlier", r"later|afterwards", r"前|先|再|之|已", r"后(?!期)"),
    (r"first", r"last", r"首|第一|第1|先|(?<!之)前|起|开头|最早|一开始", r"末|最后|后"),
    (r"always", r"never", r"都|全|每|总|任何|所有|各|一律|一切|凡|逐", r"不|没|无|未|非|别"),
)  # fmt: skip
_SIDES = [
    tuple(re.compile(rf"\b(?:{words})\b" if words.isascii() else words, re.I) for words in four) for four in _OPPOSITES
]
_NOT = re.compile(
    r"\b(?:never|not?(?! contradiction)|none|nor|neither|cannot)\b|不(?!如|过|相关|同)|没有|从未|并非", re.I
)
_END = re.compile(r"[,;:!?()，。；：！？（）|\n]|\.(?=\s|$)")
_SIGNS = {"falls": "<", "rises": ">", "Lt": "<", "Gt": ">"}
_NUMBER = r"(?<![\d./])([-\u2212]?\d[\d,]*(?:\.\d+|/\d+)?)[ \u00a0]?[%％]?"
_MOVES = {
    "<": (rf"{_FALL}[^.;:\n]{{0,60}}? from {_NUMBER}[^.;:\n]{{0,30}}? to {_NUMBER}",
          rf"从[^。；\n]{{0,30}}?{_NUMBER}[^。；\d\n]{{0,6}}?[降跌减][^。；，\d\n]{{0,3}}?[到至](?:\d+的)?{_NUMBER}"),
    ">": (rf"{_RISE}[^.;:\n]{{0,60}}? from {_NUMBER}[^.;:\n]{{0,30}}? to {_NUMBER}",
          rf"从[^。；\n]{{0,30}}?{_NUMBER}[^。；\d\n]{{0,6}}?[升涨增提][^。；，\d\n]{{0,3}}?[到至](?:\d+的)?{_NUMBER}"),
}  # fmt: skip


class Mention(NamedTuple):
    """Where a sentence names one of the rows, or columns, of a table, and which of them the word may stand for."""

    start: int
    end: int
    labels: frozenset[str]


def _synonyms(root: Path) -> dict[str, list[str]]:
    path = root / "docs" / "labels.yml"
    lists = read_yaml(path) if path.exists() else {"labels": {}}
    words = {label: [chinese] for label, chinese in lists["labels"].items()}
    for label, aliases in lists.get("aliases", {}).items():
        words[label] = words.get(label, []) + aliases
    return words


@lru_cache(maxsize=1024)
def _words(root: Path, labels: frozenset[str]) -> tuple[re.Pattern[str], dict[str, frozenset[str]]]:
    synonyms = _synonyms(root)
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
    singular = (re.sub(r"(?<=[A-Z])s$|_zh", "", match[0]).lower() for match in NAME.finditer(text))
    return [name for name in singular if name not in _UNITS]


def missing_names(english: str, chinese: str) -> Iterator[str]:
    """Yield each name of an English line that its Chinese does not have, or not in that order; it may have more.

    Metrics with a cutoff are one order, all other names another: "BM25 in nDCG@10" is "nDCG@10 of BM25" in Chinese.
    """
    for metrics in (True, False):
        rest = iter([name for name in names(chinese) if ("@" in name) is metrics])
        yield from [name for name in names(english) if ("@" in name) is metrics and name not in rest][:1]


def wrong_moves(text: str) -> Iterator[str]:
    """Yield each piece of a text that lets a number rise or fall where it does the other; text has no markers."""
    for sign, patterns in _MOVES.items():
        for match in itertools.chain.from_iterable(re.finditer(pattern, text, re.I) for pattern in patterns):
            first, last = (Fraction(number.replace(",", "").replace("\u2212", "-")) for number in match.groups())
            if first != last and (last < first) != (sign == "<"):
                yield " ".join(match[0].split())


def _stated(words: str) -> str:
    """Return `<` or `>`, the direction of the words since the last punctuation mark; empty if both or neither."""
    clause = _END.split(words.rstrip(" .。*_“”\"'"))[-1]
    signs = [(sign, match.start()) for sign, pattern in _WORDS.items() for match in pattern.finditer(clause)]
    if len({sign for sign, _ in signs}) != 1:
        return ""
    sign, start = signs[0]
    return sign if not _NOT.search(clause[:start]) else "<>".replace(sign, "")


def _claimed(expression: str) -> str:
    """Return `<` or `>`, the sign of every comparison of a claim; empty if it has others, or both."""
    signs = set()
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(node, ast.Compare):
            signs.add(_SIGNS.get(type(node.ops[0]).__name__, "") if len(node.ops) == 1 else "")
        elif isinstance(node, ast.Name) and node.id in _SIGNS:
            signs.add(_SIGNS[node.id])
    return signs.pop() if len(signs) == 1 else ""


def contradicts(words: str, expression: str) -> bool:
    """Tell whether the words before a claim, without markers, point the other way; expression is known to parse."""
    stated, claimed = _stated(words), _claimed(expression)
    return bool(stated and claimed) and stated != claimed


def opposed(english: str, chinese: str) -> Iterator[tuple[str, str]]:
    """Yield both words where an English sentence has a word and its Chinese one only the opposite, or the reverse.

    Where both have as many words for more and for less, as many of them are for more.
    """
    for more, less, more_chinese, less_chinese in _SIDES:
        left = more.findall(english), less.findall(english)
        right = more_chinese.findall(chinese), less_chinese.findall(chinese)
        for side, other in ((0, 1), (1, 0)):
            same_total = len(left[0] + left[1]) == len(right[0] + right[1])
            alone = not left[other] and not right[side]
            if left[side] and right[other] and (alone or (same_total and len(left[side]) > len(right[side]))):
                yield left[side][0], right[other][0]
