"""Compare a text and its translation: numbers, markers, formulas, names, and words that point in opposite directions.

The first four must be the same. Opposite words are a hint, which `check` prints and does not count: a person decides
whether they say the same.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator

from .markdown import COMMENT, FRONT, LINK, URL, line_pairs, prose, sentences, without_blocks

_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<![\w)\]}])\.\d+", re.A)
_SCALE = re.compile(r"[ \u00a0-]?(?:dozen|hundred|thousand|million|billion|[十百千万亿])")
_SPELT = 12  # up to which a language may write a number as a word
NAME = re.compile(r"(?<![\w@./+-])(?=[\w@./+-]*(?:\d|\w[A-Z]))[A-Za-z](?:[\w@./+-]*\w)?", re.A)
_UNITS = ("gb", "mb", "tb", "sd", "id")  # Chinese has words for them at times
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
)  # fmt: skip
_SIDES = [
    tuple(re.compile(rf"\b(?:{words})\b" if words.isascii() else words, re.I) for words in four) for four in _OPPOSITES
]


def numbers(text: str) -> Counter[str]:
    """Return how often a text has each number in digits, of those that both languages write so.

    That is decimals and what is above _SPELT, but for round ones and those before a word such as million.
    """
    text = FRONT.sub("", COMMENT.sub("", text))
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


def hints(english: str, chinese: str) -> Iterator[str]:
    """Yield a line for each sentence that has an English word and only the opposite one in Chinese."""
    for lines in line_pairs(english, chinese):
        left, right = ([text for text in sentences(prose(line)) if re.search(r"\w\w", text)] for line in lines)
        pairs = zip(left, right, strict=True) if len(left) == len(right) else [(prose(lines[0]), prose(lines[1]))]
        for (ours, theirs), (more, less, more_chinese, less_chinese) in itertools.product(pairs, _SIDES):
            english_words = more.findall(ours), less.findall(ours)
            chinese_words = more_chinese.findall(theirs), less_chinese.findall(theirs)
            for side, other in ((0, 1), (1, 0)):
                if english_words[side] and chinese_words[other] and not (english_words[other] or chinese_words[side]):
                    said = f"English says '{english_words[side][0]}', Chinese '{chinese_words[other][0]}'"
                    yield f"{said}, in '{prose(lines[1]).strip()[:60]}'"
