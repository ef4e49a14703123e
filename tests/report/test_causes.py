"""What would give another number: each cause is named where it applies, with its count, and nowhere else."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers.data import from_ids, load_dataset
from helpers.report import compare
from helpers.report.causes import CAUSES, causes
from helpers.report.results import Cause, as_record
from helpers.systems import Run
from tests.checkpoints import save_checkpoint
from tests.systems.samples import CORPUS, QRELS, QUERIES, collection, write_collection, write_embeddings

ROOT = Path(__file__).parents[2]
NOBODY = {query: {"d1": 1.0, "d2": 0.5} for query in QUERIES}


def found(systems, data=None):
    """Compare systems and give the causes by their names, several of one name in their order."""
    listed, data = {}, data or collection()
    for cause in causes(compare(systems, data, min(10, len(data.corpus)))):
        listed.setdefault(cause.name, []).append(cause)
    return listed


def test_a_plain_comparison_names_what_lies_in_its_data_alone():
    """The page would warn of what nobody did, and nobody would read it."""
    judged = {query: {doc: 1 for doc in docs} for query, docs in QRELS.items()}
    data = from_ids("plain", QUERIES, CORPUS, judged)
    run = {query: {doc: 1.0 / (1 + row) for row, doc in enumerate(docs)} for query, docs in QRELS.items()}
    assert causes(compare({"run": Run(run)}, data)) == []


def test_questions_of_an_faq_are_noticed():
    """Whoever evaluates on an FAQ's own questions is told nothing, and expects the scores from users."""
    faq = from_ids("faq", {"q1": "one?", "q2": "two?"}, {"d1": "one", "d2": "two"}, {"q1": {"d1": 1}, "q2": {"d2": 1}})
    listed = found({"run": Run({"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}})}, faq)
    assert listed["own_questions"] == [Cause("own_questions", None, 2, 2)]
    shared = from_ids(
        "shared", dict(q1="one?", q2="two?"), {"d1": "one", "d2": "two"}, {"q1": {"d1": 1}, "q2": {"d1": 1}}
    )
    assert "own_questions" not in found({"run": Run({"q1": {"d1": 2.0}, "q2": {"d1": 2.0}})}, shared)


def test_titles_and_what_was_merged_and_left_out_are_counted(tmp_path):
    """Whoever encodes texts alone, or keeps equal passages, gets another number and is not told why."""
    folder = write_collection(tmp_path / "beir")
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    for row in rows[:3]:
        row["title"] = "a title"
    rows[3]["title"] = " "
    rows.append({"_id": "d13", "text": rows[4]["text"], "title": ""})
    rows.append({"_id": "d14", "text": " ", "title": ""})
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = load_dataset(folder, on_missing="skip", relevance_level=2)
    listed = found({"run": Run(NOBODY)}, data)
    assert listed["titles"] == [Cause("titles", None, 3)]
    assert listed["merged"] == [Cause("merged", None, 1)]
    assert listed["left_out"] == [Cause("left_out", None, 1, None, "blank_passages")]
    assert listed["level"] == [Cause("level", None, 4, 13, "2")]  # the grades of 1 among 13 judgements
    assert listed["unanswered"] == [Cause("unanswered", None, 1, 6)]  # q5


def test_a_part_of_queries_or_corpus_is_told():
    """Part of the corpus is the largest cause there is; a report on a part must not look like one on the whole."""
    data = collection()
    part = data.first(4).subset(range(7))
    listed = found({"run": Run(NOBODY)}, part)
    assert listed["queries_used"] == [Cause("queries_used", None, 4, 6)]
    assert listed["passages_used"] == [Cause("passages_used", None, 7, 12)]
    record = as_record(compare({"run": Run(NOBODY)}, part, 7))["data"]
    assert [record[name] for name in ("queries", "all_queries", "passages", "all_passages")] == [4, 6, 7, 12]
    again = part.first(2).subset(range(6))
    assert (again.all_queries, again.all_passages) == (6, 12)
    assert data.first(6).all_queries == data.first().all_queries == data.subset(range(12)).all_passages == 0


def test_a_document_with_the_id_of_a_query_is_counted():
    """BEIR drops such a document; whether that changes anything cannot be known without looking."""
    data = replace(collection(), query_ids=["q1", "d2", "d3", "q4", "q5", "q6"])
    assert found({"run": Run(NOBODY)}, data)["own_id"] == [Cause("own_id", None, 2, 6)]
    assert "own_id" not in found({"run": Run(NOBODY)}, replace(data, numbered=True))  # no ids of the reader's


def test_a_ranking_is_looked_at():
    """Unjudged passages, queries that the run lacks and equal scores are the ranking's own causes."""
    run = {"q1": {"d2": 1.0, "d12": 1.0}, "q2": {"d3": 2.0, "d12": 1.0, "d11": 0.5}}
    listed = found({"run": Run(run)})
    assert listed["unjudged"] == [Cause("unjudged", "run", 3, 5, "10")]
    assert listed["missing"] == [Cause("missing", "run", 4, 6)]
    assert listed["ties"] == [Cause("ties", "run", 1, 6, "10")]


def test_ties_count_where_they_can_change_a_score():
    """Equal scores far down would be told of, or those of the last place counted and the first left out be missed."""
    scores = {"q1": (3, 2, 1, 1, 0), "q3": (3, 3, 2, 1, 0), "q4": (3, 2, 2, 1, 0), "q6": (3, 2, 1)}
    run = Run({query: dict(zip(CORPUS, map(float, row), strict=False)) for query, row in scores.items()})
    for k, count in {1: 1, 2: 2, 3: 3, 5: 3}.items():
        listed = causes(compare({"run": run}, collection(), k))
        assert [cause.count for cause in listed if cause.name == "ties"] == [count]


def test_how_a_model_was_run_is_told(tmp_path):
    """The same checkpoint under another prompt, pooling or length is another system by the same name."""
    plain = save_checkpoint(tmp_path / "plain", pooling="mean")
    family = save_checkpoint(tmp_path / "bge-small-en", pooling="cls")
    where = f"{plain}?pooling=cls&max_length=4&query_instruction=good &name=mine"
    listed = found([where, f"{family}?query_instruction=&name=off", f"{family}?name=on", "bm25"])
    lengths = [len(text.split()) + 2 for text in CORPUS.values()]  # [CLS] and [SEP]
    assert listed["truncated"] == [Cause("truncated", "mine", sum(n > 4 for n in lengths), 12, "4")]
    assert listed["pooling"] == [Cause("pooling", "mine", detail="cls")]
    wanted = "Represent this sentence for searching relevant passages: "
    assert listed["instruction"] == [
        Cause("instruction", "mine", detail="'good ' / ''"), Cause("instruction", "on", detail=f"{wanted!r} / ''"),
    ]  # fmt: skip
    assert listed["no_instruction"] == [Cause("no_instruction", "off", detail=repr(wanted))]


def test_embeddings_that_were_scaled_or_are_of_half_precision_are_told(tmp_path):
    """An inner product of the vectors as they lie there would rank otherwise."""
    folder = write_embeddings(tmp_path / "vectors")
    assert found([str(folder)])["scaled"] == [Cause("scaled", "vectors")]
    for stem in ("passages", "queries"):
        vectors = np.load(folder / f"{stem}.npy")
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.save(folder / f"{stem}.npy", unit)
    assert not {"scaled", "half"} & set(found([str(folder)]))
    np.save(folder / "passages.npy", unit[:1].repeat(12, 0).astype(np.float16))
    assert found([str(folder)])["half"] == [Cause("half", "vectors", detail="float16")]


def test_every_cause_leads_to_a_section_of_the_page():
    """The link would end at the top of the page, or the causes not be documented."""
    from docs.site.project import slugs

    pages = ROOT / "docs"
    titles = re.findall(r"^#{1,4} (.+)$", (pages / "en" / "differences.md").read_text(encoding="utf-8"), re.M)
    assert set(CAUSES.values()) <= set(slugs(titles))
    documented = (pages / "site" / "_root" / "tasks.md").read_text(encoding="utf-8")
    assert [name for name in CAUSES if f"`{name}`" not in documented] == []
