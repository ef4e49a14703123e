"""Reduce Markdown to its prose: no code, formulas, link targets, comments or tags, every line where it was."""

import re
from functools import lru_cache

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
PLACEHOLDER = "\ufffc"  # stands for code and formulas, so that the words around them do not touch

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.M)
FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)
_FENCED = re.compile(r"^[ \t>]*(`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
_MATH = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|(?<![\\\w$])\$(?!\s)[^$\n]*?(?<![\s\\])\$(?!\w)", re.S | re.A)
_CODE = re.compile(r"(?:\{[\w:-]+\})?(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*\S+.*$", re.M)
URL = re.compile(r"<?(?:https?|ftp)://[^\s<>)\"'，。；：、）】》`]+>?")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_SENTENCE = re.compile(r"(?:<!--.*?-->|[.!?;:](?![\s\"”)*<]|$)|[^.!?;:。！？；：\n])+(?:[.!?;:。！？；：]|$)", re.M)


def _lines_of(text: str) -> str:
    return PLACEHOLDER + "\n" * text.count("\n")


def without_blocks(text: str) -> str:
    """Return text with front matter and fenced blocks emptied."""
    for pattern in (FRONT, _FENCED):
        text = pattern.sub(lambda m: "\n" * m[0].count("\n"), text)
    return text


def without_code(text: str) -> str:
    """Return text with blocks emptied and inline code replaced by PLACEHOLDER; comments stay."""
    return _CODE.sub(lambda m: _lines_of(m[0]), without_blocks(text))


@lru_cache(maxsize=4096)
def prose(text: str) -> str:
    """Return the prose of a Markdown text; code and formulas become PLACEHOLDER, links keep their words."""
    text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), without_code(text))
    text = _MATH.sub(lambda m: _lines_of(m[0]), text)
    text = LINK.sub(lambda m: m[2], LINK.sub(lambda m: m[2], text))
    for pattern in (_REFERENCE, URL, _TAG):
        text = pattern.sub("", text)
    return text


def links(text: str) -> list[tuple[str, str]]:
    """Return (words, target) of every link outside code, images left out."""
    text = COMMENT.sub("", without_code(text))
    return [(m[2], m[3]) for m in LINK.finditer(text) if not m[1]] + [
        (m[2], m[1]) for m in re.finditer(r"<a\s[^>]*href=\"([^\"]+)\"[^>]*>(.*?)</a>", text, re.S)
    ]


def headings(text: str) -> list[str]:
    """Return the headings of a text, outside code."""
    return _HEADING.findall(without_blocks(text))


def paragraphs(text: str) -> list[str]:
    """Return the blocks of a text that blank lines separate, stripped."""
    return [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]


def sentences(text: str) -> list[str]:
    """Return the sentences and half sentences of a Markdown text, in any of both languages, with their comments."""
    return [match[0] for match in _SENTENCE.finditer(text)]


def line_pairs(english: str, chinese: str) -> list[tuple[str, str]]:
    """Pair the lines of prose of an English text with their translations; a Chinese text adds lines at the end only."""
    both = ([line for line in without_blocks(text).split("\n") if COMMENT.sub("", line).strip()]
            for text in (english, chinese))  # fmt: skip
    return list(zip(*both, strict=False))


def has_han(text: str) -> bool:
    """Tell whether text holds a Chinese character."""
    return re.search(f"[{HAN}]", text) is not None
