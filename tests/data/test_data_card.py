"""The data card of the pocket collection: every figure on it follows from the files beside it."""

import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from helpers.data import load_dataset
from helpers.judgements import Agreement, agreement
from tests.data.pocket import FOLDER, by_query, card, grades, labels, query_types

PAGES = Path(__file__).parents[2] / "docs"
KAPPAS = ({}, {"weights": "quadratic"}, {"relevance_level": 2})  # the card's columns, as options of `agreement`
NO_FIGURES = r"""
CC0\ 1\.0 | zero/1\.0 | grades\ 2\ and\ 3 | Grade\ 3\ answers | ,\ [21]\ (?:answers|is\ on) | ,\ 0\ was\ looked
| query,\ 0,\ passage | \(1\ −\ c\) | It\ is\ 1\ where | agree\ and\ 0\ where | 0\ against\ 3\ nine\ times
| 0\ against\ 1\. | 10,000\ bootstrap | Landis\ and\ Koch\ 1977,\ doi:10\.2307/2529310 | up\ to\ 0\.[2468]0
| judged@10\ with | got\ a\ 1, | its\ three\ labels\ stays\ 0 | judged@10\. | where\ grade\ 1\ ends
| Zobel\ 1998,\ doi:10\.1145/290941\.291014 | nDCG@10 | judged@10\ =\ 1 | bm25 | BM25 | k1\ 0\.9\ and\ 1\.5
| grade\ above\ 0 | had\ 2\.58\ % | had\ a\ 1 | gave\ these\ 0 | gave\ grade\ 1 | model\ was\ 0\.81\.
"""  # digits on the card that nothing can compute: names, definitions, the scale of others, a score of before


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of every table row by the first cell."""
    found = re.findall(r"^\| ([^|]+) \|(.+)\|$", text, re.M)
    return {label: [cell.strip() for cell in cells.split("|")] for label, cells in found}


@cache
def agreements(one: str, other: str) -> list[Agreement]:
    """Return each kappa of two assessors, with its interval over 10,000 resamples of queries."""
    return [agreement(by_query(one), by_query(other), seed=16, **options) for options in KAPPAS]


def kappa_row(one: str, other: str) -> list[str]:
    """Return the row of the card on two assessors."""
    found = agreements(one, other)
    cells = [f"{a.kappa:.3f} ({a.interval[0]:.3f} to {a.interval[1]:.3f})" for a in found]
    return [str(found[0].pairs), str(found[0].queries), *cells]


def middle(given: dict[str, int]) -> int:
    """Return the middle of a pair's labels, of two the lower."""
    return sorted(given.values())[(len(given) - 1) // 2]


REREAD = {("q132", "p388"), ("q127", "p466"), ("q015", "p887")}  # all agreed; a reader had doubted them


def differ(given: dict[str, int]) -> bool:
    """Tell whether the assessors before the third gave a pair different grades."""
    return len({grade for name, grade in given.items() if name != "third"}) > 1


def prose_figures(runs: dict, scores: dict) -> list[str]:
    """Return what the running text of the card must say, with the figures of the files put in."""
    data, types, final = load_dataset("pocket-en"), query_types(), grades("qrels.tsv")
    answers = Counter(len(data.relevant(row)) for row in range(len(data.queries)))
    empty = {name: ids < 0 for name, ids in runs.items()}
    english, chinese = ((empty[name].sum(), empty[name].any(1).sum()) for name in ("bm25", "bm25 zh"))
    ndcg = {name: result.per_query["ndcg@10"] for name, result in scores.items()}
    gap = {
        kind: [f"{ndcg[n][types == kind].mean():.3f}" for n in ("bm25", "dense")] for kind in ("paraphrase", "entity")
    }
    before = {pair: given["authors"] for pair, given in labels().items() if "authors" in given}
    second = [pair for pair, given in labels().items() if "second" in given]
    twice = {query for query, _ in second}
    late = sum(query in twice and "second" not in given for (query, _), given in labels().items())
    return [
        f"{len(data.queries)} queries and {len(data.corpus)} short passages",
        f"{answers[1]} queries have one such passage, {answers[2]} have two, {answers[3]} have three",
        "English passages have 30 to 90 words, Chinese ones 60 to 180 characters",  # computed in test_bundled
        "The pool depth is 20; it is 10 where",  # computed in test_pool
        "{} places of {} English queries and {} of {} Chinese ones".format(*english, *chinese),
        "an nDCG@10 of {} and the dense model {};".format(*gap["paraphrase"]),
        "BM25 {} and the dense model {}.".format(*gap["entity"]),
        f"top ten of three systems, {len(before)} pairs",
        f"Of the {len(final) - len(before)} pairs that the deeper pool added, not one got",
        f"It judged all {len(final)} pairs",
        "196 of them, which a last check of the pool added, in a sitting of their own",  # labels have no date
        "The last 958 pairs were judged in two more sittings",
        "651, of which 611 came from the systems added later and 40 from TF-IDF",
        "307, of which 301 came from hashed runs and 6 from a Chinese query",
        "Of the last 958 pairs nobody judged any a second time independently: of the 651,",
        "and 651 pairs judged",
        "and 307 pairs judged",
        f"read the {late - 38 - 50} of these queries once more",  # 38 came with those 196, 50 with the 307
        "Hashed runs within words had 7.9 % of their English top ten unjudged before",  # of an earlier pool
        f"but for {late} that",
        f"`random.Random(1919).sample(queries, {len({query for query, _ in second})})`): {len(second)} pairs",
        f"on {len({query for query, _ in second})} queries drawn at random",
        f"any two of these differ, {sum(map(differ, labels().values()))}, was read",
        f"{sum(final[pair] < grade for pair, grade in before.items())} pairs went down, "
        f"{sum(final[pair] > grade for pair, grade in before.items())} went up",
        f"{sum((final[pair] >= 2) != (grade >= 2) for pair, grade in before.items())} pairs changed between relevant",
        f"{len(before)} judgements, the top ten of three systems",
    ]


def tables(scores: dict) -> dict[str, list[str]]:
    """Return what the tables of the card must hold, by the first cell of the row."""
    data = load_dataset("pocket-en")
    counts = Counter(grade for judged in data.qrels for grade in judged.values())
    values = {
        "queries": len(data.queries),
        "passages": len(data.corpus),
        "judgements": counts.total(),
        **{f"grade {grade}": counts[grade] for grade in range(4)},
        **{f"{n} {metric}": f"{scores[n].mean[metric]:.3g}" for n in scores for metric in ("ndcg@10", "success@1")},
    }
    return {
        **{name: [str(value)] for name, value in values.items()},
        "first and second": kappa_row("first", "second"),
        "authors and first": kappa_row("authors", "first"),
        **{str(grade): [str(int(n)) for n in agreements("authors", "first")[0].table[grade]] for grade in range(4)},
    }


def test_tables_hold_what_the_files_hold(scores):
    """A card with stale figures is worse than none."""
    stated = rows(card())
    expected = tables(scores)
    assert {name: stated.get(name) for name in expected} == expected


def test_the_chinese_card_states_the_same_figures():
    """A figure that changes in one language would be wrong in the other."""
    chinese = (FOLDER / "README.zh.md").read_text(encoding="utf-8")
    in_tables = [re.findall(r"^\|.*\|$", text, re.M) for text in (card(), chinese)]
    numbers = [[re.findall(r"[\d.]+", row) for row in rows if not row.startswith("|--")] for rows in in_tables]
    assert numbers[0] == numbers[1]
    english, chinese = (Counter(re.findall(r"\d+(?:[.,]\d+)*", text)) for text in (card(), chinese))
    assert english == chinese


def test_every_figure_of_the_text_is_computed(runs, scores):
    """A figure that no test computes is a claim nobody can check; any digit left over is one."""
    left = re.sub(r"^\|.*\|$", "", card(), flags=re.M)
    for said in prose_figures(runs, scores):
        assert said in left, said
        left = left.replace(said, "")
    left = re.sub(r"\b[qp]\d{3}\b|40 of the 42 paraphrases", "", left)  # lists of queries: the test below reads them
    left = re.sub(NO_FIGURES, "", left, flags=re.X)
    assert re.findall(r".*\d.*", left) == []


def test_it_names_the_queries_that_fail(scores):
    """The card says which queries each system fails; a stale list sends readers to the wrong ones."""
    types, ids = query_types(), np.array(load_dataset("pocket-en").query_ids)
    for name, start in (("dense", "- The dense model puts"), ("bm25", "- BM25 puts")):
        line = next(line for line in card().splitlines() if line.startswith(start))
        failed = scores[name].per_query["success@1"] == 0
        skipped = (types == "paraphrase") & (name == "bm25")
        assert sorted(re.findall(r"q\d{3}", line)) == sorted(ids[failed & ~skipped])
        if skipped.any():
            assert f"{(failed & skipped).sum()} of the {skipped.sum()} paraphrases" in line


def test_grades_are_the_middle_of_the_labels():
    """A grade that follows from no label was made up."""
    assert {pair: middle(given) for pair, given in labels().items()} == grades("qrels.tsv")
    assert {grade for given in labels().values() for grade in given.values()} == {0, 1, 2, 3}


def test_what_differs_was_read_once_more():
    """A difference that nobody settled would be decided by which label happens to be lower."""
    assert all(("third" in given) == (differ(given) or pair in REREAD) for pair, given in labels().items())
    assert all("first" in given for given in labels().values())


def test_the_second_assessor_s_queries_are_those_drawn():
    """Queries picked by hand would make any agreement; the card says how to draw them again."""
    ids = load_dataset("pocket-en").query_ids
    drawn = set(random.Random(1919).sample(ids, 27))
    assert {query for (query, _), given in labels().items() if "second" in given} == drawn
    left_out = sum("second" not in given for (query, _), given in labels().items() if query in drawn)
    assert f"but for {left_out} that" in card()
    assert 5 * len(drawn) >= len(ids)  # a fifth at least


@pytest.mark.parametrize(("file", "language"), [("guidelines.md", "en"), ("guidelines.zh.md", "zh")])
def test_examples_of_the_guidelines_have_the_grade_they_stand_for(file, language):
    """An example that the judgements contradict would teach the next assessor another scale."""
    text = (FOLDER / file).read_text(encoding="utf-8")
    examples = re.findall(r"^\| (\d) \|[^|]+\| (q\d{3}) ([^|]+) \| (p\d{3})", text, re.M)
    data = load_dataset(f"pocket-{language}")
    assert [int(grade) for grade, *_ in examples] == [3, 2, 1, 0]
    for grade, query, words, passage in examples:
        assert data.queries[data.query_ids.index(query)] == words
        assert grades("qrels.tsv")[query, passage] == int(grade)
    for query, passage, grade in (("q127", "p466", 1), ("q117", "p880", 0)):
        assert query in text
        assert passage in text
        assert grades("qrels.tsv")[query, passage] == grade
        assert data.queries[data.query_ids.index(query)] in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_gives_the_card_s_agreement(language):
    """The page of the site repeats the agreement of the card in both languages."""
    page = (PAGES / language / "collection.md").read_text(encoding="utf-8")
    found = [f"{a.kappa:.3f}" for a in agreements("first", "second")]
    assert re.findall(r"(?<![\d.])0\.\d{3}(?!\d)", page) == found
