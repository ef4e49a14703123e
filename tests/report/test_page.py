"""The report page: one safe file, whole in either language, and what it says of figures that need care."""

import hashlib
import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from helpers.data import from_ids
from helpers.report import compare
from helpers.report.causes import CAUSES
from helpers.report.gates import Baseline, at_least, no_drop
from helpers.report.page import LANGUAGES, NAMED, WIDTH, View, catalogue, facts, render, shown
from helpers.systems import Run, rank
from tests.systems.samples import QUERIES, collection, failing, numbered, shifted

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</title><script>alert(1)</script>",
    '"><base href="https://example.org/">', "<iframe src=https://example.org>", "<meta http-equiv=refresh content=0>",
    "<form action=https://example.org>", "<svg onload=alert(1)>", "&lt;b&gt;", "{{ 7 * 7 }}{% raw %}",
]  # fmt: skip


def run_of(best):
    """Give a run that ranks one document first for each query, and another below it."""
    return Run({query: {doc: 2.0, "d12": 1.0} for query, doc in zip(QUERIES, best, strict=True)})


@pytest.fixture(scope="module")
def two():
    """Compare two runs, a baseline and a system that fails."""
    first, second = run_of(["d2", "d3", "d5", "d7", "d1", "d4"]), run_of(["d2", "d3", "d8", "d9", "d1", "d4"])
    third = Run({query: {"d12": 1.0} for query in QUERIES})
    systems = {"first": first, "second": second, "third": third, "broken": failing("no luck")}
    return compare(systems, collection())


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("evil", HOSTILE)
def test_whatever_comes_from_outside_is_text_on_the_page(evil, language):
    """Markup in a passage, an id, a name or an error would run in the browser of whoever is sent the page."""
    queries = {f"q{evil}": f"apple {evil}", "q2": evil}
    corpus = {f"d{evil}": f"the apple {evil}", "d2": f"{evil} house"}
    data = from_ids(f"data {evil}", queries, corpus, {f"q{evil}": {"d2": 1}, "q2": {"d2": 2}})
    systems = {f"name {evil}": Run({f"q{evil}": {f"d{evil}": 1.0, f"x{evil}": 2.0}}), f"b {evil}": "bm25",
               f"c {evil}": failing(evil)}  # fmt: skip
    text = render(compare(systems, data, 2), language=language)
    page = BeautifulSoup(text, "html.parser")
    assert evil in page.title.string == page.h1.string
    assert not page.find_all(["script", "img", "base", "iframe", "form", "link", "object", "b"])
    assert not [tag for tag in page.find_all(True) for name in tag.attrs if name.startswith("on")]
    assert {meta.get("http-equiv") for meta in page.find_all("meta")} == {None, "Content-Security-Policy"}
    policy = page.find("meta", {"http-equiv": True})["content"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert evil in page.find("main").get_text()


def test_every_language_has_every_word():
    """A page would be half in the other language, or a number be missing from a sentence."""
    assert set(LANGUAGES) >= {"en", "zh"}
    english = catalogue("en")
    assert set(CAUSES) == set(english["causes"]), "a cause would end the page that nobody wrote a sentence for"
    for language in LANGUAGES:
        assert catalogue(language).keys() == english.keys()
        for section, entries in catalogue(language).items():
            assert entries.keys() == english[section].keys(), section
            assert all(entries.values())
    own = {"html", "site", "two", "and_more", "equal within the margin"}
    for section, entries in english.items():
        for key, sentence in entries.items():
            chinese = catalogue("zh")[section][key]
            fields = [set(re.findall(r"\{(\w+)(?:!r)?\}", text)) for text in (sentence, chinese)]
            assert fields[0] == fields[1] or key in own, key
            assert not re.search(r"[\u3400-\u9fff] |\s[\u3400-\u9fff]|[\u3400-\u9fff][,;:?!]", chinese), key


def test_a_chinese_page_is_chinese_whole(two):
    """Labels of tables and pictures, warnings too, would stay English between Chinese sentences."""
    page = BeautifulSoup(render(two, language="zh"), "html.parser")
    assert page.html["lang"] == "zh-CN"
    own = {"first", "second", "third", "broken", "id", "p"} | set(map(shown, two.metrics)) | {"BM25"}
    labels = [tag.get_text() for tag in page.find_all(["h2", "th", "dt", "figcaption", "caption"])]
    labels += [tag["aria-label"] for tag in page.find_all("svg", {"aria-label": True})]
    english = [text for text in labels if not re.search(r"[\u3400-\u9fff]", text)]
    packages = {tag.get_text() for tag in page.find_all("dt")}
    assert [t for t in english if t not in own | packages and not re.fullmatch(r"[qd]?[\d,.]+|\w+@k", t)] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_metric_is_defined_as_it_was_computed(language):
    """A metric of the whole ranking would be said to look at the first k, or exponential gain to add up grades."""
    names = ["map", "mrr", "ndcg", "rbp", "map@3", "mrr@3", "ndcg@3", "ndcg(gain=exponential)@3"]
    meant = dict(View(compare({"one": run_of(["d1"] * 6)}, collection(), metrics=names), language).definitions())
    whole = {"MAP", "MRR", "nDCG", "RBP"}
    cut = {"MAP@k", "MRR@k", "nDCG@k", "nDCG(gain=exponential)@k", "judged@k"}
    assert meant.keys() == whole | cut
    assert {name for name, text in meant.items() if re.search(r"\bk\b|k位", text)} == cut
    assert not [text for text in meant.values() if re.search(r"[{}]", text)]
    assert ("2 to the power" if language == "en" else "2的") in meant["nDCG(gain=exponential)@k"]
    assert meant["nDCG(gain=exponential)@k"] != meant["nDCG@k"]


def test_notes_of_systems_are_translated():
    """A warning in the other language is one that is passed over."""
    data = collection()
    far = Run({"q1": {"d12": 1.0}})
    view = View(compare({"mine": Run({"q1": {"x": 1.0}, "q2": {"d3": 1.0}}), "far": far}, data), "zh")
    assert [system for system, _, _ in view.notes()] == ["mine", "far"]
    assert all(re.search(r"[\u3400-\u9fff]", text) and not original for _, text, original in view.notes())


def test_what_has_no_translation_stands_in_english_behind_a_chinese_sentence():
    """A Chinese reader would not be told which system failed where, or an English message be read as Chinese."""

    def warns(data, k):
        warnings.warn("colour out of space", stacklevel=1)
        return rank("BM25", data, k)

    found = compare({"odd": SimpleNamespace(rank=warns), "broken": failing("no luck")}, collection())
    page = BeautifulSoup(render(found, language="zh"), "html.parser")
    said = [(tag["lang"], tag.get_text()) for tag in page.find_all("code")]
    assert said == [("en", "no luck"), ("en", "colour out of space")]
    failed = page.find("li", {"class": "bad"}).get_text()
    assert failed.strip().split(maxsplit=1) == ["broken", "失败了。原文：no luck"]


def test_gates_stand_on_the_page_in_its_language(two):
    """A Chinese page would say in English why the build failed."""
    before = Baseline("2026-01-01", {"ndcg@10": two.scored["third"].per_query["ndcg@10"]})
    verdicts = [
        at_least(two, "first", "ndcg@10", 1.0, "zh"),
        at_least(two, "broken", "ndcg@10", 0.5, "zh"),
        no_drop(two, "first", before, "ndcg@10", 0.0, 0.05, "zh"),
        no_drop(two, "broken", before, "ndcg@10", 0.0, 0.05, "zh"),
    ]
    page = render(two, language="zh", verdicts=verdicts)
    assert "未通过：first的ndcg@10为" in page
    assert not [why for _, why in verdicts if not re.search(r"[\u3400-\u9fff]", why) or why not in page]


def test_causes_stand_on_the_page_with_their_count_and_their_section(two):
    """The reader would look for the difference himself, or in the wrong section."""
    for language, said in (("en", "first: 6 of 12"), ("zh", "first：12个中的6个")):
        page = BeautifulSoup(render(two, language=language), "html.parser")
        rows = {tag.a["href"].partition("#")[2]: tag for tag in page.find_all("tr") if tag.a}
        assert said in rows["unjudged-passages"].get_text(), rows


def test_the_summary_says_whether_the_lead_is_significant(two, clear):
    """The first sentence is what is read; a lead of chance must not be told as a finding."""
    sentences = View(two).summary()
    assert sentences[0].startswith("first has nDCG@10 0.")
    assert "on 6 queries" in sentences[0]
    assert "is not significant" in sentences[1]
    assert "is significantly better than the next, bad" in View(clear).summary()[1]
    same = compare({"one": shifted(12, 0), "other": shifted(12, 0)}, numbered(12))
    assert "have the same score on every query" in View(same).summary()[1]
    assert not [note for note in View(same).tests()[1] if "cannot fall below" in note]


def test_a_p_value_that_cannot_be_small_is_explained(two):
    """Five of five queries better and p above the level: without a line the reader does not know which to believe."""
    table, notes = View(two).tests()
    assert "p adjusted (Tukey HSD)" in table.header
    assert "adjusted p " in View(two).summary()[1]
    [line] = [note for note in notes if note.startswith("Against second")]
    assert "only 2 queries differ: p cannot fall below 0.5000" in line
    only = View(compare({"a": run_of(["d2"] * 6), "b": run_of(["d3"] * 6)}, collection()))
    assert "p adjusted (Tukey HSD)" not in only.tests()[0].header
    one = View(compare({"a": run_of(["d2"] * 6), "b": run_of(["d9", *["d2"] * 5])}, collection()))
    assert [note for note in one.tests()[1] if "cannot fall below 1" in note]


def test_what_is_shown_of_queries_is_what_they_scored(two):
    """A query under the wrong heading, or a value of the other system, would send the reader the wrong way."""
    [(caption, table)] = View(two).wins()
    assert caption == "first better on 2 queries"
    ours, theirs = (two.scored[name].per_query["ndcg@10"] for name in ("first", "second"))
    for query, text, a, b in table.rows:
        row = list(QUERIES).index(query)
        assert (text, a, b) == (QUERIES[query], f"{ours[row]:.3f}", f"{theirs[row]:.3f}")


def test_an_interval_across_zero_is_drawn_across_it():
    """A difference that may well be none would be drawn as one that is certain."""
    tests = {"other": {"low": -0.1, "difference": 0.2, "high": 0.5}}
    zero, [(_, _, places)] = View(SimpleNamespace(tests=tests)).gaps()
    # from -.1 to .5 the width is .6, so 0 lies a sixth from the left, and .2 in the middle
    assert [zero, *places] == pytest.approx([WIDTH / 6, 0, WIDTH / 2, WIDTH])


def test_queries_that_differ_equally_stand_in_their_order():
    """The page of one result would show other queries from run to run."""
    [(_, table)] = View(compare({"good": shifted(40, 0), "bad": shifted(40, 1)}, numbered(40))).wins()
    assert [row[0] for row in table.rows] == ["q0", "q1", "q2", "q3", "q4"]


def test_failures_are_told_apart_by_grade_and_judgement():
    """ "0" says that somebody looked; "not judged" that nobody did."""
    runs = {"only": run_of(["d9", "d12", "d5", "d7", "d1", "d4"])}
    note, table = View(compare(runs, collection())).failures()
    assert "2 of 2" in note
    rows = [(row[0], row[2], row[4]) for row in table.rows]
    assert rows == [("q1", "beyond 2", "0"), ("q2", "beyond 2", "not judged")]
    _, table = View(compare({"only": Run({"q2": {"d1": 1.0}})}, collection())).failures()
    assert [row[3] for row in table.rows if row[0] == "q2"] == ["the apple is good"], "row 0 is no padding"


def test_a_page_of_failures_alone_is_a_page():
    """The page must say what failed, above all where nothing else is left to say."""
    text = render(compare({"broken": failing("no luck")}, collection()))
    assert "No system could be scored." in text
    assert "no luck" in text


def test_each_score_stands_with_its_interval(two):
    """A mean would stand alone, and look exact."""
    spread = two.intervals["first"]["ndcg@10"]
    assert f"{spread.low:.3f}–{spread.high:.3f}" in BeautifulSoup(render(two), "html.parser").find("table").get_text()


def test_the_deciding_metric_is_the_first_column():
    """On a phone and on paper the columns at the right are out of sight."""
    table = View(compare({"words": "bm25"}, collection(), metrics=["recall@1", "map@3", "ndcg@10"])).scores()
    assert table.header == ["system", "nDCG@10", "recall@1", "MAP@3", "judged@10"]
    assert table.rows[0][0] == "words"
    uncut = View(compare({"words": "bm25"}, collection(), metrics=["map"])).scores()
    assert uncut.header == ["system", "MAP", "judged@10"]  # where a metric has no cutoff, as far as judged


def test_the_picture_is_in_the_colours_of_the_page():
    """A fixed colour would be lost on a dark page, or a name be markup."""
    compared = compare({"a <b> $x$": "bm25", "other": Run({"q1": {"d3": 1.0}})}, collection())
    page = BeautifulSoup(render(compared), "html.parser")
    [(name, row)] = compared.tests.items()
    assert {name, f"{row['difference']:.3f}"} <= {text.get_text() for text in page.svg.find_all("text")}
    colours = {tag[name] for tag in page.select("svg *") for name in ("fill", "stroke") if name in tag.attrs}
    assert not [colour for colour in colours if colour.startswith("#")]
    assert "--blue: #0072B2" in page.style.string
    assert View(compare({"alone": "bm25"}, collection())).gaps() is None


def test_the_page_links_to_nothing_but_the_site(two):
    """An address of elsewhere on the page could be loaded, or lead astray."""
    page = BeautifulSoup(render(two), "html.parser")
    assert not page.find_all(src=True)
    for link in page.find_all("a", href=True):
        assert link["href"].startswith("https://")
        assert link["href"].partition("#")[0].endswith("/en/differences.html")


def test_facts_are_listed_without_what_is_empty():
    """The page would show braces and brackets, or rows that say nothing."""
    nested = facts({"a": {"b": 3, "none": None}, "list": ["x", 1], "empty": "", "zero": 0})
    assert nested == ["a.b = 3", "list = x, 1", "zero = 0"]


def test_the_view_says_what_was_evaluated_in_either_language():
    """A reader could not tell which part of the collection a number is about."""
    runs = {"a": Run({q: {"d4": 1.0} for q in QUERIES}), "b": Run({q: {"d9": 1.0} for q in QUERIES})}
    found = compare(runs, replace(collection(), split="dev", merged=2))
    english, chinese = View(found, "en"), View(found, "zh")
    assert english.title() == "a / b on tiny"
    assert chinese.title() == catalogue("zh")["page"]["title"].format(systems="a与b", data="tiny")
    facts = dict(english.evaluated())
    assert (facts[catalogue("en")["page"]["split"]], facts[catalogue("en")["page"]["merged"]]) == ("dev", "2")
    assert facts[catalogue("en")["page"]["passages"]] == "12"
    assert catalogue("en")["page"]["split"] not in dict(View(compare(runs, collection())).evaluated())
    assert [caption.split(" on ")[0] for caption, _ in english.wins()] == [f"{name} better" for name in english.names]


def test_many_systems_share_a_line_of_causes():
    """The page of thirty runs would name all of them for each cause."""
    view = View(compare({f"s{n}": shifted(12, int(n > 0)) for n in range(30)}, numbered(12), 1))
    assert all(len(counts) <= NAMED + 1 for _, _, counts in view.causes())
    assert any(counts[-1] == "and 24 more" for _, _, counts in view.causes())


def test_a_run_has_one_line_of_provenance(tmp_path):
    """Thirty runs would fill three pages with their kind, their file and its digest."""
    (tmp_path / "a.trec").write_text("q1 Q0 d1 1 1.0 t\n")
    rows = dict(View(compare([str(tmp_path / "a.trec")], collection())).made_with())
    digest = hashlib.sha256((tmp_path / "a.trec").read_bytes()).hexdigest()
    assert rows["a.trec"] == f"kind = run, where = a.trec, sha256 = {digest}"


def test_the_first_sentences_name_the_corpus():
    """A score over nothing but answers would be quoted as if it were that of a corpus in use."""
    run = {"run": Run({query: {"d1": 1.0} for query in QUERIES})}
    data = collection()
    plain = View(compare(run, data, 5)).summary()
    assert f"over {len(data.corpus)} passages" in plain[0]
    assert catalogue("en")["page"]["summary_answers"] not in plain
    answers = {query: {f"d{n}": 1} for n, query in enumerate(QUERIES, 1)}
    faq = from_ids("faq", dict.fromkeys(QUERIES, "what"), {f"d{n}": f"text {n}" for n in range(1, 7)}, answers)
    assert View(compare(run, faq, 5)).summary()[1] == catalogue("en")["page"]["summary_answers"]
