"""What Chinese pages need beside their words: titles that break between words, dots of emphasis under Chinese alone."""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Any

_TITLE = re.compile(r"(<h[1-3]>)(.*?)(</h[1-3]>)", re.S)
_EMPHASIS = re.compile(r"(?<=<em>)([^<]*)(?=</em>)")
_HAN = re.compile(r"[\u3400-\u9fff]{8,}")  # fewer in a row stay on one line
_FORMULA = re.compile(r'(<span class="math">(?:(?!</span>).)*</math></span>)([，。；：、！？）])', re.S)
_BOLD = re.compile(r"<strong>(?=(?:<a [^>]*>)?[\u3400-\u9fff]{2,6}(?:</a>)?</strong>)")
_LATIN = re.compile(r"&\w+;|[A-Za-z0-9@](?:[\w@.,%+ -]*[A-Za-z0-9%])?", re.A)


def polished(page: str, words: list[str], theme: dict[str, str]) -> str:
    """Return a Chinese page with the theme's labels in Chinese, places to break titles at, and no dots under Latin."""
    for english, chinese in theme.items():
        page = page.replace(english, chinese)
    page = _EMPHASIS.sub(lambda m: _LATIN.sub(r'<span class="latin">\g<0></span>', m[1]), page)
    page = _FORMULA.sub(r'<span class="together">\1\2</span>', page)  # no line begins with a comma
    page = _BOLD.sub('<strong class="together">', page)  # a short name in bold stays on one line
    return _TITLE.sub(lambda m: m[1] + _outside_of_tags(m[2], words) + m[3], page)


def _outside_of_tags(html: str, words: list[str]) -> str:
    """Return HTML with a place to break between the Chinese words of its texts."""
    parts = re.split(r"(<[^>]*>|&[^;]+;)", html)
    parts[::2] = [_HAN.sub(lambda m: "<wbr>".join(cut(m[0], words)), part) for part in parts[::2]]
    return "".join(parts)


def cut(text: str, words: list[str]) -> list[str]:
    """Return the words of a Chinese text; those given are never cut."""
    return [str(word) for word in _cutter(tuple(words)).cut(text, HMM=False)]


@cache
def _cutter(words: tuple[str, ...]) -> Any:
    """A cutter that knows these words; it takes a second to make."""
    import jieba

    jieba.setLogLevel(logging.WARNING)
    cutter = jieba.Tokenizer()
    for word in words:
        cutter.add_word(word, 100_000)
    return cutter
