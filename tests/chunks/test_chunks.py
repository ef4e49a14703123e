"""Chunkers, chunks as a collection, and evidence within a budget, checked against plain loops and properties."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.chunks import (
    as_collection,
    best_documents,
    cut,
    evidence,
    paragraphs,
    sections,
    sentences,
    token_starts,
    tokens,
    whole,
)
from helpers.data.spans import Span, SpanDataset, load_spans
from tests.growth import assert_linear

TEXT = "# One\n\nA first. A second!\n\n```sh\n# no heading\n\nls\n```\n\n## Two\n\nEnds here。再来一句。\n"
CHUNKERS = [whole, sections, paragraphs, sentences, tokens(4), tokens(5, overlap=3)]


def dataset(text: str, spans: list[Span]) -> SpanDataset:
    """One query about one document."""
    return SpanDataset("x", ["q?"], [text], [spans], ["q1"], ["d1"])


def pieces(chunker) -> list[str]:
    """The chunks of TEXT."""
    return [TEXT[start:end] for start, end in chunker(TEXT)]


def test_chunkers_cut_where_they_say():
    """A heading inside of code would begin a section, or a heading would be a chunk of its own."""
    assert pieces(sections) == [TEXT[: TEXT.index("## Two")].strip(), "## Two\n\nEnds here。再来一句。"]
    assert pieces(paragraphs)[:2] == ["# One\n\nA first. A second!", "```sh\n# no heading"]
    assert pieces(paragraphs)[-1] == "## Two\n\nEnds here。再来一句。"
    assert pieces(sentences)[:3] == ["# One", "A first.", "A second!"]
    assert pieces(sentences)[-2:] == ["Ends here。", "再来一句。"]
    assert pieces(tokens(3))[:2] == ["# One\n\nA", "first. A"]
    assert pieces(tokens(3, overlap=2))[:2] == ["# One\n\nA", "One\n\nA first"]
    assert pieces(whole) == [TEXT.strip()]


@settings(deadline=None, max_examples=200)
@given(
    st.text(st.sampled_from("ab .。!\n#`_你好"), min_size=1, max_size=60).filter(str.strip), st.sampled_from(CHUNKERS)
)
def test_no_chunker_loses_text(text, chunker):
    """What is in no chunk can never be retrieved; `cut` raises where a chunker of ours leaves anything out."""
    chunks = cut(dataset(text, []), chunker)
    assert all(text[chunk.start : chunk.end].strip() == text[chunk.start : chunk.end] for chunk in chunks)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 3)], r"loses 4 of 8 characters, the first at 4: 'text'"),
        ([(0, 9)], r"returned \(0, 9\) for a text of 8 characters"),
        ([(0, 8), (3, 3)], r"returned \(3, 3\)"),
    ],
)
def test_a_chunker_that_loses_text_is_refused(bounds, message):
    """An answer in the lost part would count against every system, and nobody would know why."""
    with pytest.raises(ValueError, match=message):
        cut(dataset("the text", []), lambda _: bounds)


def test_the_size_of_chunks_is_checked():
    """An overlap as large as the chunk would never move on."""
    for size, overlap in ((0, 0), (3, 3), (3, -1)):
        with pytest.raises(ValueError, match=f"size={size}, overlap={overlap}"):
            tokens(size, overlap)


def test_a_chunk_is_judged_by_the_spans_it_covers():
    """Labels lost, or given to a neighbour, when documents are cut in another way would make all scores wrong."""
    data = dataset("aaaa bbbb cccc", [Span(0, 5, 9, 2), Span(0, 8, 14, 1)])
    chunks = [Span(0, 0, 7), Span(0, 7, 14), Span(0, 0, 14), Span(0, 0, 4)]
    assert as_collection(data, chunks).qrels == [{0: 2, 1: 2, 2: 2}]
    assert as_collection(data, chunks, share=1).qrels == [{1: 1, 2: 2}]
    assert as_collection(data, chunks).corpus == ["aaaa bb", "bb cccc", "aaaa bbbb cccc", "aaaa"]
    with pytest.raises(ValueError, match="share=0"):
        as_collection(data, chunks, share=0)


def test_twice_the_documents_are_twice_the_work():
    """A collection of 100,000 chunks would take ten minutes before anything is encoded."""

    def collecting(documents: int) -> Callable[[], object]:
        names, spans = (
            [f"d{n}" for n in range(documents)],
            [[Span(n, 0, 4), Span(n, 10, 14, 2)] for n in range(documents)],
        )
        data = SpanDataset("many", names, ["aaaa bbbb cccc dddd"] * documents, spans, names, names)
        chunks = cut(data, tokens(2))
        return lambda: as_collection(data, chunks)

    assert_linear(collecting, 100)


def test_documents_are_ranked_by_their_best_chunk():
    """A document of many chunks would be listed many times, and its later chunks would push others down."""
    chunks = [Span(0, 0, 1), Span(0, 1, 2), Span(1, 0, 1), Span(2, 0, 1)]
    assert best_documents(np.array([[2, 1, 0, 3], [3, -1, -1, -1]]), chunks).tolist() == [[1, 0, 2], [2, -1, -1]]
    assert best_documents(np.empty((0, 4), np.int64), chunks).shape == (0, 0)


def by_loop(data: SpanDataset, chunks: list[Span], budget: int) -> dict[str, float]:
    """Evidence of the one query by the slowest way: token after token, each compared with every span."""
    starts = token_starts(data.documents[0])
    handed, spans = [], data.spans[0]
    for chunk in chunks:
        for place in starts:
            if chunk.start <= place < chunk.end and len(handed) < budget:
                handed.append(place)
    wanted = [place for place in starts if any(s.start <= place < s.end for s in spans)]
    new = [place for number, place in enumerate(handed) if place not in handed[:number]]
    hits = [place for place in new if place in wanted]
    best = max(span.grade for span in spans)
    complete = [all(place in handed for place in starts if s.start <= place < s.end) for s in spans if s.grade == best]
    return {
        "answered": float(any(complete)),
        "recall": len(hits) / len(wanted),
        "precision": len(hits) / len(handed),
        "first": handed.index(hits[0]) if hits else np.nan,
        "repeated": 1 - len(new) / len(handed),
    }


WORDS = "one two three four five six seven eight nine ten eleven twelve"
PLACES = [*token_starts(WORDS), len(WORDS) + 1]
bounds = st.tuples(st.integers(0, 10), st.integers(1, 4)).map(lambda p: (p[0], min(p[0] + p[1], 12)))


def span(first: int, last: int, grade: int = 1) -> Span:
    """The words ``first`` to ``last`` (exclusive) of WORDS."""
    return Span(0, PLACES[first], PLACES[last] - 1, grade)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(bounds, min_size=1, max_size=5),
    st.lists(st.tuples(bounds, st.integers(1, 2)), min_size=1, max_size=3),
    st.integers(1, 14),
)
def test_evidence_is_that_of_a_plain_loop(chunks, answers, budget):
    """A wrong count of tokens, of repeats or of what the budget lets through would decide which chunker is chosen."""
    retrieved = [span(*chunk) for chunk in chunks]
    data = dataset(WORDS, [span(*answer, grade) for answer, grade in answers])
    row = evidence(data, [retrieved], budget).loc["q1"].to_dict()
    assert row == pytest.approx(by_loop(data, retrieved, budget), nan_ok=True)


@pytest.mark.parametrize(
    ("retrieved", "budget", "message"),
    [
        ([], 9, "0 queries, the data has 1"),
        ([[Span(1, 0, 3)]], 9, "query 0: document row 1; there are rows 0 to 0"),
        ([[Span(0, 3, 99)]], 9, "characters 3 to 99 of document row 0, which has 62"),
    ],
)
def test_evidence_names_a_wrong_argument(retrieved, budget, message):
    """A chunk of another document, or of another edition of it, would count as a miss."""
    with pytest.raises(ValueError, match=message):
        evidence(dataset(WORDS, [span(0, 2)]), retrieved, budget)
    with pytest.raises(ValueError, match="'q1' has no span with a grade above 0"):
        evidence(dataset(WORDS, [span(0, 2, 0)]), [[span(0, 1)]], 9)


def write(folder, spans: list[dict]) -> None:
    """A collection of one document and one query."""
    rows = {"documents": [{"_id": "d1", "text": "the text"}], "queries": [{"_id": "q1", "text": "q?"}], "spans": spans}
    for name, table in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")


GOOD = {"query": "q1", "document": "d1", "start": 4, "end": 8, "grade": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": "q2"}, "row 1: no query 'q2'"),
        ({"document": "d2"}, "row 1: no document 'd2'"),
        ({"end": 9}, "characters 4 to 9 of document row 0, which has 8"),
        ({"end": 4}, "characters 4 to 4"),
        ({"start": 3, "end": 4}, "are blank"),
        ({"grade": "high"}, "expected whole numbers"),
        ({"text": "next"}, "has 'text' there, not 'next'; the document was edited"),
        ({"text": "next " * 999}, "not '(next ){8}'; the"),
    ],
)
def test_a_span_that_marks_nothing_is_refused(tmp_path, change, message):
    """Every score would be that of other judgements."""
    write(tmp_path, [GOOD | change])
    with pytest.raises(ValueError, match=message):
        load_spans(tmp_path)


def test_a_missing_table_or_column_is_named(tmp_path):
    """A reader would not know which of the three files is expected."""
    with pytest.raises(FileNotFoundError, match="No folder 'pages-fr'; bundled are pages-en and pages-zh"):
        load_spans("pages-fr")
    with pytest.raises(FileNotFoundError, match="no table 'documents'"):
        load_spans(tmp_path)
    write(tmp_path, [{"query": "q1"}])
    with pytest.raises(ValueError, match="no column 'document' and no 'start' and no 'end'; it has 'query'"):
        load_spans(tmp_path)


def test_spans_are_read_from_a_folder_by_place_or_quotation(tmp_path):
    """A reader's own labels would be shifted by a character, or a quotation that occurs twice be guessed."""
    write(tmp_path, [GOOD | {"text": "text"}])
    data = load_spans(tmp_path)
    assert (data.spans, data.query_ids, data.document_ids) == ([[Span(0, 4, 8, 2)]], ["q1"], ["d1"])
    quoted = {key: GOOD[key] for key in ("query", "document")}
    write(tmp_path, [quoted | {"text": "text"}])
    assert load_spans(tmp_path).spans == [[Span(0, 4, 8, 1)]]
    for words, count in (("not in it", 0), ("e", 2)):
        write(tmp_path, [quoted | {"text": words}])
        with pytest.raises(ValueError, match=f"row 1: '{words}' occurs {count} times in the document; quote more"):
            load_spans(tmp_path)


def test_the_bundled_pages_are_parallel():
    """A Chinese reader would get other answers judged, or a query without an answer, and nobody would notice."""
    english, chinese = load_spans("pages-en"), load_spans("pages-zh")
    assert (english.document_ids, english.query_ids) == (chinese.document_ids, chinese.query_ids)
    for ours, theirs in zip(english.spans, chinese.spans, strict=True):
        assert sorted((s.document, s.grade) for s in ours) == sorted((s.document, s.grade) for s in theirs)
        assert max(s.grade for s in ours) == 2
