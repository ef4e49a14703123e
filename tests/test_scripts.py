"""Words, sentences and tokens in scripts other than English and Chinese, one text each."""

import warnings

import pytest

from helpers import _scripts as scripts
from helpers._optional import Note
from helpers.chunks import sentences, token_starts
from helpers.index import build_index, search, tokenize

# Two sentences each, and the words of both.
SPACED = {
    "Amharic": ("መጽሐፉ እዚህ ነው።", "አዲስ ነው።", "መጽሐፉ እዚህ ነው አዲስ ነው"),
    "Arabic": ("أَيْنَ الكتاب؟", "هو هنا.", "أَيْنَ الكتاب هو هنا"),
    "Hebrew": ("שָׁלוֹם עולם!", "הספר כאן.", "שָׁלוֹם עולם הספר כאן"),
    "Hindi": ("हिन्दी की किताब यहाँ है।", "वह नई है।", "हिन्दी की किताब यहाँ है वह नई है"),
    "Korean": ("책이 여기 있다.", "새 책이다.", "책이 여기 있다 새 책이다"),
    "Russian": ("Книга здесь.", "Она новая.", "книга здесь она новая"),
    "Sinhala": ("ශ්\u200dරී ලංකාව දූපතකි.", "එය ලස්සනයි.", "ශ්රී ලංකාව දූපතකි එය ලස්සනයි"),
    "Tamil": ("தமிழ் நூல் இங்கே உள்ளது.", "அது புதியது.", "தமிழ் நூல் இங்கே உள்ளது அது புதியது"),
    "Urdu": ("کتاب یہاں ہے۔", "وہ نئی ہے۔", "کتاب یہاں ہے وہ نئی ہے"),
}
UNSPACED = {
    "Japanese": ("コーヒーだ。", "寒い。", "コー ーヒ ヒー ーだ 寒 い", 9),
    "Khmer": ("ភាសាខ្មែរ។", "ថ្មី។", "ភាសា សាខ្ ខ្មែ មែរ ថ្មី", 9),
    "Lao": ("ພາສາລາວ!", "ໃໝ່!", "ພາ າສ ສາ າລ ລາ າວ ໃຫ ຫມ່", 11),
    "Myanmar": ("မြန်မာစာ။", "အသစ်။", "မြန် န်မာ မာစာ အသ သစ်", 9),
    "Thai": ("ภาษาไทย!", "ใหม่!", "ภา าษ ษา าไ ไท ทย ให หม่", 12),
}


@pytest.mark.parametrize(("first", "second", "words"), SPACED.values(), ids=SPACED)
def test_words_and_sentences_stay_whole(first, second, words):
    """Vowel signs would tear words apart, a page be one sentence, and a reader get a quarter of an English budget."""
    text = f"{first} {second}"
    expected = words.split()
    for unit in ("words", "bigrams"):
        assert tokenize([text], unit, stop_words=()) == [tuple(expected)]
    assert [text[start:end] for start, end in sentences(text)] == [first, second]
    assert len(token_starts(text)) == len(expected) + 2  # and the ends of the sentences


@pytest.mark.parametrize(("first", "second", "words", "tokens"), UNSPACED.values(), ids=UNSPACED)
def test_scripts_without_spaces_become_bigrams_with_a_note(first, second, words, tokens):
    """A sentence would be one word, which no query has, or one token of a budget; and nobody would be told."""
    text = f"{first} {second}"
    assert tokenize([text]) == [tuple(words.split())]
    assert [text[start:end] for start, end in sentences(text)] == [first, second]
    assert len(token_starts(text)) == tokens
    for kind in ("BM25", "TF-IDF"):
        with pytest.warns(Note, match="1 of 2 passages have letters of a script without spaces"):
            index = build_index(["one", text], kind)
        assert search(index, [first], 1)[1].tolist() == [[1]]


def test_scripts_whose_words_are_known_have_no_note():
    """A note that is always there is not read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_index(["下雾了。", "हिन्दी", "a café"], "BM25")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他说：“下雾了。”天晴了吗？！（晴了。）好。", ["他说：“下雾了。”", "天晴了吗？！", "（晴了。）", "好。"]),
        ("「雾。」『晴！』好", ["「雾。」", "『晴！』", "好"]),
        ("He paid 3.50. “Why?” She left", ["He paid 3.50.", "“Why?” She left"]),
        ("値は3．14だ。終わり．次", ["値は3．14だ。", "終わり．次"]),
        ("है।अब", ["है।", "अब"]),
        ("« Oui.\u202f» Il part. »Nein« sagt er", ["« Oui.\u202f» Il part.", "»Nein« sagt er"]),
    ],
)
def test_what_closes_a_quotation_stays_with_its_sentence(text, expected):
    """A quotation mark or bracket would begin the next chunk, or a number be cut at its point."""
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_ends_of_sentences_are_those_of_unicode():
    """A script would be left out, and its texts be one sentence each."""
    regex = pytest.importorskip("regex")
    for char in regex.findall(r"\p{Sentence_Terminal}", "".join(map(chr, range(0x20000)))):
        assert scripts.sentence_end().search(f"a{char} b"), ascii(char)
    for char in "a1,;:、；，":
        assert not scripts.sentence_end().search(f"a{char} b")
