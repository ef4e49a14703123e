"""Whether both languages of a text have the same numbers, markers, formulas and names."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal

from .markdown import COMMENT, LINK, line_pairs, prose, without_blocks
from .wording import missing_names

WORDS = {
    "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "dozen": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "third": 3, "thirds": 3,
    "fourth": 4, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "百": 100, "千": 1000, "万": 10**4,
           "亿": 10**8}  # fmt: skip
_DIGITS = dict(zip("零一二三四五六七八九两", (*range(10), 2), strict=True))
_BY_LINE = ("names", "rows")
_SMALL = re.compile(r"\b(?:one|two|both|once|twice|first|second|single)\b|[一二两]|首个|第一", re.I)

_DIGIT = r"\d+(?:,\d{3})*(?:\.\d+)?"
_WORD = rf"\b(?:{'|'.join(WORDS)})s?\b"
_ENGLISH = re.compile(
    rf"({_DIGIT})((?:[ \u00a0-]?(?:{'|'.join(WORDS)})s?\b)*)|{_WORD}(?: (?:thousand|million|billion))?", re.I
)
_CHINESE = re.compile(rf"({_DIGIT})([百千万亿]*)|(?!百分[点之比]|百科|万能)[一二三四五六七八九两十百千万亿]+(?!一样)")
_LEADING = re.compile(r"(?<![\d\w)\]}])\.(?=\d)")  # of a decimal without its zero


def _han(text: str) -> int:
    total = section = digit = 0
    for character in text:
        if character == "十":
            section, digit = section + (digit or 1) * 10, 0
        elif character in "万亿":
            total, section, digit = total + ((section + digit) or 1) * _SCALES[character], 0, 0
        elif character in _SCALES:
            section, digit = section + (digit or 1) * _SCALES[character], 0
        else:
            digit = _DIGITS[character]
    return total + section + digit


def _scaled(number: str, scales: Iterable[str] = ()) -> str:
    """Return a number so that equal ones read alike, with its digits behind the point unless it is scaled."""
    value = math.prod((_SCALES[scale] for scale in scales), start=Decimal(number.replace(",", "")))
    return f"{int(value)}" if value == int(value) and (scales or "." not in number) else f"{value:f}"


def _english(match: re.Match[str]) -> list[str]:
    """Return the numbers of a match: `8.8 million` and `ten thousand` are one."""
    words = [word.lower().rstrip("s") for word in re.findall(r"[A-Za-z]+", match[0])]
    plain = [str(WORDS.get(word) or WORDS[word + "s"]) for word in words if word not in _SCALES]
    number = match[1] or (plain.pop(0) if plain else "1")
    return [_scaled(number, [word for word in words if word in _SCALES]), *plain]


def _chinese(match: re.Match[str]) -> list[str]:
    return [_scaled(match[1], match[2]) if match[1] else str(_han(match[0]))]


def quantities(text: str, language: str) -> tuple[Counter[str], Counter[str]]:
    """Return how often a text names each number: in digits or words, and of these the ones written in digits."""
    text = re.sub(r"\A---\n.*?\n---\n", "", COMMENT.sub("", text), flags=re.S)
    words = _LEADING.sub("0.", prose(text))
    whole = _LEADING.sub("0.", re.sub(r"https?://\S+", " ", LINK.sub(lambda match: match[2], text)))
    digits = Counter(_scaled(number) for number in re.findall(_DIGIT, whole))
    pattern, read = (_CHINESE, _chinese) if language == "zh" else (_ENGLISH, _english)
    scaled: Counter[str] = Counter()
    for match in pattern.finditer(words):
        if match[1] is None:
            scaled.update(read(match))
        elif match[2]:
            digits[_scaled(match[1])] -= 1
            scaled.update(read(match))
    return +digits + scaled, +digits


def number_differences(english: str, chinese: str) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers that only the English, and that only the Chinese text has.

    0, 1 and 2 are compared where both write digits: their words serve other ends too.
    """
    (left, left_digits), (right, right_digits) = quantities(english, "en"), quantities(chinese, "zh")
    only = [left - right, right - left]
    for small in ("0", "1", "2"):
        gap = left_digits[small] - right_digits[small]
        spoken = len(_SMALL.findall(prose(chinese if gap > 0 else english)))
        for side, sign in zip(only, (1, -1), strict=True):
            side.pop(small, None)
            if sign * gap > spoken:
                side[small] = sign * gap
    return only[0], only[1]


def marks(text: str) -> Counter[str]:
    """Return how often each marker stands in a text."""
    markers = re.findall(r"<!--\s*((?:fig|calc|nofig|holds):.*?)\s*-->", without_blocks(text), re.S)
    return Counter(re.sub(r"\s+", " ", marker) for marker in markers)


def formulas(text: str) -> Counter[str]:
    """Return how often each formula between `$` stands in a text, without words and blanks; single symbols left out."""
    pairs = re.findall(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$\n]+?)\$", without_blocks(COMMENT.sub("", text)), re.S)
    bare = (re.sub(r"\\q?quad.*|\\text\{[^{}]*\}|\s|[，。；]", "", "".join(pair), flags=re.S) for pair in pairs)
    return Counter(formula for formula in bare if re.search(r"[=+/^]|\\(?:frac|sum|log|min|max|le|ge|cdot)", formula))


def _allowed(entry: str) -> dict[str, Counter[str]]:
    """Return the numbers that an entry of docs/checks.toml (`en 3 5 zh 2`) allows each language to have alone."""
    parts = re.split(r"(?:^|\s)(en|zh)(?:\s|$)", entry)
    only = {language: Counter(numbers.split()) for language, numbers in zip(parts[1::2], parts[2::2], strict=True)}
    return {language: only.get(language, Counter()) - Counter(_BY_LINE) for language in ("en", "zh")}


def _by_line(english: str, chinese: str) -> Iterator[tuple[str, str]]:
    for lines in line_pairs(english, chinese):
        place = f"in '{prose(lines[1]).strip()[:60]}'"
        for name in missing_names(*lines):
            yield "names", f"Chinese lacks '{name}', or has it elsewhere, {place}"
        ours, theirs = (Counter(re.findall(r"`[^`]+`", line)) + formulas(line) for line in lines)
        lost = (ours - theirs) + (quantities(lines[0], "en")[1] - quantities(lines[1], "zh")[0])
        if lines[0].startswith("|") and lost:
            yield "rows", f"Chinese lacks {', '.join(lost)} {place}"


def language_differences(english: str, chinese: str, allowed: str = "") -> Iterator[tuple[str, str]]:
    """Yield rule and message where two languages of a text have other markers or name other numbers.

    allowed is the entry of docs/checks.toml for the text.
    """
    for rule, form, read in (("markers", "<!--{}-->", marks), ("formulas", "${:.60}$", formulas)):
        left, right = read(english), read(chinese)
        for name, others in (("English", left - right), ("Chinese", right - left)):
            if others:
                yield rule, f"only the {name} text has {form.format(next(iter(others)))}: both have the same {rule}"
    faults = list(_by_line(english, chinese))
    yield from ((rule, f"{message}: correct one text") for rule, message in faults if rule not in allowed.split())
    for rule in _BY_LINE:
        if rule in allowed.split() and rule not in dict(faults):
            yield rule, f"'{rule}' is listed for nothing: correct docs/checks.toml, languages"
    exceptions = _allowed(allowed)
    for language, only in zip(("en", "zh"), number_differences(english, chinese), strict=True):
        expected = exceptions[language]
        if only != expected:
            surplus, gone = (" ".join(sorted(each.elements())) for each in (only - expected, expected - only))
            name = "English" if language == "en" else "Chinese"
            message = (
                f"only the {name} text names {surplus}" if surplus else f"'{language} {gone}' is listed for nothing"
            )
            yield "numbers", f"{message}: correct one text, or docs/checks.toml, languages, with a reason"
