"""Whether both languages of a text have the same numbers, markers, formulas and names."""

import re
from collections import Counter
from collections.abc import Iterator

from .markdown import COMMENT, LINK, line_pairs, prose, without_blocks
from .wording import missing_names

_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<![\w)\]}])\.\d+", re.A)
_SCALE = re.compile(r"[ \u00a0-]?(?:dozen|hundred|thousand|million|billion|[十百千万亿])")
_SPELT = 12  # up to which a language may write a number as a word


def numbers(text: str) -> Counter[str]:
    """Return how often a text has each number in digits, of those that both languages write so.

    That is decimals and what is above _SPELT, but for round ones and those before a word such as million.
    """
    text = re.sub(r"\A---\n.*?\n---\n", "", COMMENT.sub("", text), flags=re.S)
    text = re.sub(r"https?://\S+", " ", LINK.sub(lambda match: match[2], text))
    found = Counter[str]()
    for match in _NUMBER.finditer(text):
        number = match[0].replace(",", "")
        number = f"0{number}" if number[0] == "." else number
        plain = "." not in number and (int(number) <= _SPELT or re.fullmatch("[1-9]0+", number))
        found[number] += not (plain or _SCALE.match(text, match.end()))
    return +found


def marks(text: str) -> Counter[str]:
    """Return how often each marker stands in a text."""
    markers = re.findall(r"<!--\s*((?:fig|calc|nofig|holds):.*?)\s*-->", without_blocks(text), re.S)
    return Counter(re.sub(r"\s+", " ", marker) for marker in markers)


def formulas(text: str) -> Counter[str]:
    """Return how often each formula between `$` stands in a text, without words and blanks; single symbols left out."""
    pairs = re.findall(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$\n]+?)\$", without_blocks(COMMENT.sub("", text)), re.S)
    bare = (re.sub(r"\\q?quad.*|\\text\{[^{}]*\}|\s|[，。；]", "", "".join(pair), flags=re.S) for pair in pairs)
    return Counter(formula for formula in bare if re.search(r"[=+/^]|\\(?:frac|sum|log|min|max|le|ge|cdot)", formula))


def language_differences(english: str, chinese: str, recorded: bool = False) -> Iterator[tuple[str, str]]:
    """Yield rule and message where two languages of a text have other markers, formulas, names or numbers.

    recorded: the Chinese text is about its own record; then the formulas alone are the same.
    """
    for rule, form, read in (("formulas", "${:.60}$", formulas), ("markers", "<!--{}-->", marks)):
        if recorded and rule == "markers":
            return
        left, right = read(english), read(chinese)
        for name, others in (("English", left - right), ("Chinese", right - left)):
            if others:
                yield rule, f"only the {name} text has {form.format(next(iter(others)))}: both have the same {rule}"
    if lost := numbers(english) - numbers(chinese):
        yield "numbers", f"only the English text names {' '.join(sorted(lost.elements()))}: correct one text"
    for lines in line_pairs(english, chinese):
        place = f"in '{prose(lines[1]).strip()[:60]}': correct one text"
        for name in missing_names(*lines):
            yield "names", f"Chinese lacks '{name}', or has it elsewhere, {place}"
        ours, theirs = (Counter(re.findall(r"`[^`]+`", line)) + formulas(line) + numbers(line) for line in lines)
        if lines[0].startswith("|") and ours - theirs:
            yield "rows", f"Chinese lacks {', '.join(ours - theirs)} {place}"
