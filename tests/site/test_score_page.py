"""The page "Score your own run" in a real browser: pasted texts, files, what is wrong with either."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from docs.site.pocket import read_pocket
from docs.site.project import Edition
from docs.site.widget import EXAMPLE, settings
from helpers.data.trec import read_qrels, read_run
from helpers.metrics import evaluate, explain
from helpers.significance import minimum_detectable_difference, paired_test, queries_needed
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.metrics.samples import RELEVANT, RETRIEVED
from tests.site.browser import PHONE, WIDE, Site
from tests.site.test_try import METRICS

pytestmark = pytest.mark.browser


def opened(site: Site, language: str) -> None:
    """Load the page, and wait until it can be used."""
    site.look(WIDE)
    site.open(f"{language}/score.html")
    site.until("document.querySelector('.score.ready') !== null")
    site.page.locator(".score-settings summary").click()


def paste(site: Site, run: str, qrels: str) -> None:
    """Paste two texts and press the button."""
    for number, text in enumerate((run, qrels)):
        site.page.locator(".score-source textarea").nth(number).fill(text)
    site.page.locator(".score-go").click()
    scored(site)


def scored(site: Site) -> None:
    """Wait until the worker has answered."""
    site.until("document.querySelector('.score.busy') === null")


def means(site: Site) -> list[float]:
    """The means in the table, without their intervals, and judged@k below them."""
    cells = site.page.locator(".score-tables table").first.locator("tbody td span span")
    return [float(value) for value in cells.evaluate_all("cells => cells.map(cell => cell.firstChild.data)")]


def every(site: Site) -> list[str]:
    """The rows of the table of every query: id and values, with tabs between them."""
    rows = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent).join('\t'))"
    site.page.locator("details:has(tbody) > summary").click()
    return site.page.locator(".score-answer details tbody tr").evaluate_all(rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pasted_run_is_scored_in_the_page(site: Site, language: str):
    """A pasted run would get other values than evaluate gives, or be sent somewhere."""
    opened(site, language)
    rows = [(f"q{q}", doc, 1 / rank) for q, docs in enumerate(RETRIEVED) for rank, doc in enumerate(docs, 1)]
    run = "\n".join(f"{query} Q0 {doc} 1 {score} me" for query, doc, score in rows)
    qrels = "\n".join(f"q{query} 0 {doc} 1" for query, docs in enumerate(RELEVANT) for doc in docs)
    asked: list[str] = []
    site.page.on("request", lambda request: asked.append(request.url))
    site.page.fill(".score input[type=number]", "5")
    paste(site, run, qrels)
    cells, shown = means(site), [*METRICS[:1], *METRICS[2:], "judged"]  # capped recall is here the same as recall
    assert [url for url in asked if url != f"{site.base}{language}/_static/icon.svg"] == []  # fetched once, at any time
    expected = evaluate(RETRIEVED, RELEVANT, [f"{metric}@5" for metric in shown]).mean
    assert cells == pytest.approx([expected[f"{metric}@5"] for metric in shown], abs=6e-4)
    assert "k = 5" in site.page.inner_text(".score-settings summary"), "a folded setting is not the one in force"
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_bad_texts_are_explained(site: Site, language: str):
    """A reader would not be told which line of what he pasted is wrong, or what to do."""
    opened(site, language)
    good, many = "q1 0 d1 1", json.dumps({f"q{number}": {"d": 1} for number in range(10_001)})
    for run, qrels, expected in [
        ("q1 Q0 d1 1 2 me\nq1 Q0 d2", good, ["2", "6"]),
        ("q1 Q0 d1 1 2 me", many, ["10000"]),
        ("x1 Q0 d1 1 2 me", good, ["x1", "q1"]),
        ("q1 d1 0.5\nfoo\nq1 d2 high", "bar", ["2", "foo", "3", "high", "bar"]),
        ("q1 Q0 D1 1 2 me", "q1 0 doc-1 1", ["D1", "doc-1"]),
        ('[{"q1": {"d1": 1}}]', good, ["JSON", "score"]),
        ("<img src=x onerror=alert(1)> Q0 d1 1 2 me", good, ["d1", "<img"]),
    ]:
        paste(site, run, qrels)
        said = site.page.locator(".score-sources").inner_text()
        assert all(part in said for part in expected), said
        assert not re.search(r"\{\w+\}", said), "a place that was not filled in"
        assert site.page.locator(".score-answer table").count() == 0
    assert site.wrong == []


def given(site: Site, *paths: Path) -> None:
    """Choose files for the boxes of run and judgements, in this order, and wait until they are read."""
    for number, path in enumerate(paths):
        site.page.locator(".score-source input").nth(number).set_input_files(path)
        site.until(f"document.querySelector('.score-sources').textContent.includes('{path.name}')")
    scored(site)


def ticks(site: Site) -> list[bool]:
    """Whether each box says that what it holds was read."""
    mark = "all => all.map(one => getComputedStyle(one, '::before').content.includes('✓'))"
    return site.page.locator(".score-source output").evaluate_all(mark)


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_in_each_others_boxes_are_exchanged(site: Site, language: str, tmp_path: Path):
    """A reader who took one box for the other would be told of fields, or not see what the page did."""
    run, qrels = tmp_path / "mine.csv", tmp_path / "qrels.csv"
    run.write_text("qid,docno,rank,score,query\nq1,d1,0,2.5,how\nq1,d2,1,1.5,how", encoding="utf-8")
    qrels.write_text("grade,document,query,assessor\n0,d1,q1,x\n1,d2,q1,x\n", encoding="utf-8")
    opened(site, language)
    given(site, qrels)
    assert ticks(site)[0] is False
    given(site, qrels, run)
    words = settings(ROOT)["words"][language]["score"]
    told = site.page.inner_text(".score > .tool-note")
    assert words["exchanged"] in told
    assert re.search("query.*assessor", told), "columns are ignored in silence"
    assert [run.name in one for one in site.page.locator(".score-source").all_inner_texts()] == [True, False, False]
    assert ticks(site) == [True, True, False]
    assert means(site)[3] == 0.5, "MRR, the answer at rank 2"
    assert site.violations() == []
    assert site.wrong == []


def test_ten_thousand_queries_are_scored_outside_the_page(site: Site, tmp_path: Path):
    """MS MARCO's queries would be refused, freeze the page, or fill it with rows."""
    rng, docs = random.Random(6), [f"d{number}" for number in range(100)]
    run, qrels = tmp_path / "run.trec", tmp_path / "qrels.txt"
    rows = [(query, doc, 9 - rank) for query in range(10_000) for rank, doc in enumerate(rng.sample(docs, 10))]
    run.write_text("".join(f"q{query} Q0 {doc} 1 {score} me\n" for query, doc, score in rows), encoding="utf-8")
    qrels.write_text("".join(f"q{n} 0 {doc} 1\n" for n in range(10_000) for doc in rng.sample(docs, 12)), "utf-8")
    opened(site, "en")
    given(site, run, qrels)
    site.until("document.querySelectorAll('.score-answer table').length > 1")
    result = evaluate(read_run(run), read_qrels(qrels), [f"{metric}@10" for metric in [*METRICS, "judged"]])
    assert means(site) == pytest.approx(list(result.mean.values()), abs=6e-4)
    assert [worker.url.rsplit("/", 1)[1] for worker in site.page.workers] == ["worker.js"], "the page itself counts"
    assert site.page.locator(".score-answer tr").count() < 600
    site.page.locator("details:has(tbody) > summary").click()
    site.page.locator(".score-answer details .score-more").click()
    assert site.page.locator(".score-answer details tbody tr").count() == 1000
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_is_loaded_and_has_the_scores_of_its_system(site: Site, language: str):
    """A reader without files would not see what comes out, or see other scores than the lessons have for the system."""
    opened(site, language)
    site.page.click(".score-example")
    site.until("document.querySelectorAll('.score-answer table').length > 1")
    heading = site.page.locator(".score-answer h2").last
    assert heading.inner_text() == settings(ROOT)["words"][language]["score"]["example"]["run"]
    headline = site.page.locator(".score-headline").last.inner_text()
    assert f"{read_pocket(Edition(ROOT, language)).means[EXAMPLE]:.3f}" in headline, "the first line is not the score"
    assert "132" in site.page.locator(".score-tables caption").inner_text()
    pocket = read_pocket(Edition(ROOT, language))
    rows = [row.split("\t") for row in every(site)]
    assert all(row[0] == f"{row[0][:4]}{pocket.queries[row[0][:4]]}" for row in rows), "the id of a query says nothing"
    values = [[float(value) for value in row[1:-1]] for row in rows]
    page, anchor = site.page.locator(".score-tables a").get_attribute("href").split("#")
    lesson = (site.folder / language / page).read_text(encoding="utf-8")
    assert f'id="{anchor}"' in lesson, "the link leads to no explanation"
    assert site.page.locator("#pst-page-toc-nav [href='#results']").is_visible()
    ranks = {row[0][:4]: row[-1] for row in rows}
    nowhere = settings(ROOT)["words"][language]["score"]["nowhere"]
    for query, lists in pocket.lists.items():
        rank, _ = pocket.first_answer(query, EXAMPLE)
        assert ranks[query] == (str(rank) if 0 < rank <= len(lists[EXAMPLE]) else nowhere.format(n=len(lists[EXAMPLE])))
    ndcg = [row[METRICS.index("ndcg")] for row in values]
    zero = sum(row[METRICS.index("recall")] == 0 for row in values)
    note = site.page.locator(".score-headline + .tool-note").last.inner_text()
    counted = [int(number) for number in re.findall(r"\d+", note)]
    assert {zero, len(values), 10, zero - ndcg.count(0)} < set(counted)
    assert ndcg == sorted(ndcg), "the worst are not first"
    assert [state != "" for state in site.page.locator(".score-source output").all_inner_texts()] == [True] * 3
    site.page.locator(".score-change").first.click()
    site.page.locator(".score-source textarea").first.fill("q001 Q0 p007 1 2 me")
    assert site.page.locator(".score-source output").first.inner_text() == ""
    for width, scheme in ((WIDE, "light"), (WIDE, "dark"), (PHONE, "light")):
        site.look(width, scheme)
        assert site.violations() == []
        assert site.faint() == []
        assert site.page.evaluate("document.documentElement.scrollWidth") <= width["width"]
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_runs_are_compared(site: Site, language: str, tmp_path: Path):
    """The page would call a difference proven that the package does not, or send the second run somewhere."""
    rng = random.Random(language)
    qrels = {f"q{n}": {f"d{doc}": rng.choice([0, 1, 2]) for doc in range(8)} for n in range(30)}
    runs: list[dict[str, dict[str, float]]] = [{q: {d: rng.random() for d in docs} for q, docs in qrels.items()}]
    runs.append({q: docs if n > 17 else {d: rng.random() for d in docs} for n, (q, docs) in enumerate(runs[0].items())})
    paths = [tmp_path / name for name in ("a|b_c.json", "qrels.json", "other.json")]
    for path, table in zip(paths, (runs[0], qrels, runs[1]), strict=True):
        path.write_text(json.dumps(table), encoding="utf-8")
    opened(site, language)
    given(site, *paths)
    values = [evaluate(run, qrels, [f"{metric}@10" for metric in METRICS]) for run in runs]
    rows = site.page.locator(".score-gaps tbody tr").all_inner_texts()
    for metric, row in zip(METRICS, rows, strict=True):
        gaps = paired_test(*(result.per_query[f"{metric}@10"] for result in reversed(values)))
        numbers = [float(number) for number in re.findall(r"[+-]?\d\.\d{3}", row.replace("−", "-"))]
        expected = [*(result.mean[f"{metric}@10"] for result in values), gaps.difference]
        assert numbers[:3] == pytest.approx(expected, abs=6e-4), row
        assert numbers[-1] == pytest.approx(max(0.001, gaps.p_value), abs=6e-4), row
    one, other = (result.per_query["ndcg@10"] for result in values)
    sd, difference = float((other - one).std(ddof=1)), float((other - one).mean())
    said = site.page.locator(".score-headline + .tool-note").first.inner_text()
    wanted = {30, (other > one).sum(), (other < one).sum(), queries_needed(difference, sd)}
    assert wanted <= {int(number) for number in re.findall(r"\d+", said)}
    assert f"{minimum_detectable_difference(sd, 30):.3f}" in said
    decide = site.page.locator(".score-answer > .score-wide").last.locator("tbody tr")
    largest = sorted(range(30), key=lambda row: -abs(other[row] - one[row]))
    assert [row.split("\t")[0] for row in decide.all_inner_texts()] == [f"q{row}" for row in largest[:6]]
    markdown, latex = site.page.locator("details:not(.score-explain) > pre").all_text_contents()
    assert {line.count("|") for line in markdown.replace(r"\|", "").splitlines()} == {7}
    assert {line.count("&") for line in latex.splitlines()} == {5}
    assert r"a|b\_c.json" in latex
    assert len(latex.splitlines()) == len(markdown.splitlines()) - 1 == len(METRICS) + 1
    assert ticks(site) == [True, True, True]
    (tmp_path / "wrong.trec").write_text("q1 Q0 d1 1 high me", encoding="utf-8")
    site.page.locator(".score-source input").last.set_input_files(tmp_path / "wrong.trec")
    site.until("document.querySelector('.score-source:last-child .score-fault')?.textContent.includes('high')")
    assert ticks(site) == [True, True, False], "what was refused is ticked"
    assert site.page.locator(".score-answer table").count() == 0
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_figure_is_explained_as_in_the_package(site: Site, python: None, language: str):
    """The page would name another convention than the package, or none, or take a slip for a figure."""
    opened(site, language)
    tutorial: Any = (
        {f"q{n}": {str(doc): 10 - rank for rank, doc in enumerate(docs)} for n, docs in enumerate(RETRIEVED)},
        {f"q{n}": {str(doc): 1 for doc in docs} for n, docs in enumerate(RELEVANT)},
        {"ndcg@1": "0.0", "ndcg@5": "0.3298163165186628", "ndcg@10": "0.5955665344840209"},
    )
    for run, qrels, figures in (
        tutorial,
        ({"a": {"9": 2, "11": 2, "x": 1}, "b": {"x": 3}}, {"a": {"11": 2}, "b": {"y": 1, "x": 0}}, {"mrr@3": "0.5"}),
        (*tutorial[:2], {"map@5": "0.86", "recall@1": "0.667"}),
    ):
        paste(site, *("\n".join(f"{q} {doc} {of[q][doc]}" for q in of for doc in of[q]) for of in (run, qrels)))
        site.page.locator(".score-explain summary").click()
        site.page.locator(".score-explain input").fill(", ".join(f"{name}={told}" for name, told in figures.items()))
        site.page.locator(".score-explain button").click()
        expected = explain(run, qrels, figures, relevance_level=1).text(language)
        first = f"textContent.includes({expected.splitlines()[0]!r})"
        site.until(f"document.querySelector('.score-explain pre').{first}", 120)
        assert site.page.locator(".score-explain pre").text_content().strip() == expected
    site.page.locator(".score-explain input").fill("ndcg@10=59.6")
    site.page.locator(".score-explain input").press("Enter")
    site.until("document.querySelector('.score-explain pre').textContent.includes('expected a figure from 0 to 1')", 60)
    assert site.violations() == []
    assert site.wrong == []
