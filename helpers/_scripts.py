"""What is a word and where a sentence ends, in every script, by Unicode: regular expressions and parts of them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

HAN = "\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Written without spaces, and not segmented here: Thai, Lao, Myanmar, Khmer, Tai, Hiragana, Katakana.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u3040-\u30ff\u31f0-\u31ff\ua9e0-\ua9ff"
UNSPACED += "\uaa60-\uaadf\uff66-\uff9f"
# Joiners and selectors of variants: they change how a word looks, not which word it is.
IGNORED = "\u034f\u200c\u200d\u2060\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Unicode's Sentence_Terminal but for . ! ? and the other full stops that may stand within a number.
_TERMINALS = """589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e 1735-1736 17d4-17d5
1803 1809 1944-1945 1aa8-1aab 1b4e-1b4f 1b5a-1b5b 1b5e-1b5f 1b7d-1b7f 1c3b-1c3c 1c7e-1c7f 203c-203d 2047-2049 2cf9-2cfb
2e2e 2e3c 2e53-2e54 2e60-2e61 3002 a4ff a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb
fe12 fe15-fe16 fe56-fe57 ff01 ff1f ff61 10a56-10a57 10f55-10f59 10f86-10f89 11047-11048 110be-110c1 11141-11143
111c5-111c6 111cd 111de-111df 11238-11239 1123b-1123c 112a9 113d4-113d5 1144b-1144c 115c2-115c3 115c9-115d7 11641-11642
1173c-1173e 11944 11946 11a42-11a43 11a9b-11a9c 11c41-11c42 11ef7-11ef8 11f43-11f44 16a6e-16a6f 16af5 16b37-16b38 16b44
16d6e-16d6f 16e98 1bc9f 1da88"""


def _category(*names: str) -> str:
    """Return the characters of categories of Unicode above ASCII, for a character class."""
    return "".join(char for char in map(chr, range(0x80, 0x20000)) if unicodedata.category(char) in names)


@cache
def marks() -> str:
    """Return vowel signs, tones, points and accents, which belong to the letter before them, for a character class."""
    return _category("Mn", "Mc")


@cache
def word() -> re.Pattern[str]:
    """Return a pattern of words: runs of letters and numbers with their marks."""
    return re.compile(rf"[^\W_]+(?:[{marks()}]+[^\W_]*)*")


@cache
def token() -> re.Pattern[str]:
    """Return a pattern of tokens, with the marks of each: words, characters of scripts without spaces, other signs."""
    letters, signs = rf"[^\W_{HAN}{UNSPACED}]", f"[{marks()}{IGNORED}]"
    return re.compile(rf"{letters}+(?:{signs}+{letters}*)*|\S{signs}*")


@cache
def sentence_end() -> re.Pattern[str]:
    """Return a pattern of what lies between sentences, the signs that end one and the quotes that close it included.

    After . ! ? a space has to follow; the signs of other scripts (Unicode's Sentence_Terminal) end a sentence by
    themselves.
    """
    codes = [[chr(int(code, 16)) for code in item.split("-")] for item in _TERMINALS.split()]
    ends = "".join(map("-".join, codes))
    return re.compile(rf"(?<=[.!?․﹒．])\s+(?!\s|»\s|»$)|[{ends}]+[.!?{ends}]*[\"')\]}}{_category('Pe', 'Pf')}]*|\n+")
