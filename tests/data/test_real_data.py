"""Real data sets in the hub's layout, by parameters alone; the folder is named by EVAL_DATA_DIR."""

from pathlib import Path

import pytest

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.metrics import evaluate
from helpers.models import load_model
from notebooks.kit.cells import code_cells
from notebooks.kit.execute import execute
from notebooks.kit.notebooks import ROOT, lesson_path


@pytest.mark.parametrize(
    ("name", "queries", "passages"), [("xquad_en", 1190, 240), ("xquad_zh", 1190, 240), ("msmarco_dev", 6980, 6978)]
)
def test_real_sets_load_with_the_counts_on_their_cards(real_data, name, queries, passages):
    """The hub's own layout must load as the data cards describe it."""
    data = load_dataset(real_data / name, split="dev")
    assert (len(data.queries), len(data.corpus)) == (queries, passages)
    assert all(data.relevant(row) for row in range(queries))
    whole = load_dataset(real_data / name, corpus="corpus")
    assert len(whole.corpus) == passages
    assert [whole.corpus[whole.relevant(row)[0]] for row in range(50)] == [
        data.corpus[data.relevant(row)[0]] for row in range(50)
    ]


def test_real_sets_load_from_their_trec_files_as_from_their_rows(real_data):
    """The two layouts of one collection must give the same judgements."""
    files = {"queries": "queries.jsonl", "corpus": "corpus.jsonl", "qrels": "qrels.tsv"}
    by_id = load_dataset(real_data / "xquad_zh", **files)
    by_row = load_dataset(real_data / "xquad_zh")
    pairs = [[(d.queries[q], d.corpus[p]) for q in range(1190) for p in d.relevant(q)] for d in (by_id, by_row)]
    assert pairs[0] == pairs[1]


@pytest.mark.slow
def test_figures_of_xquad_are_those_on_its_card(real_data: Path):
    """The card's figures come from another program: agreeing with them checks the pipeline from end to end."""
    data = load_dataset(real_data / "xquad_en", split="dev", max_queries=500)
    model = load_model(max_length=512)  # where the card's program truncates; the model's own file says 256
    _, ids = search(build_index(encode(model, data.corpus)), encode(model, data.queries, kind="query"), k=10)
    found = evaluate(ids, data.qrels, ["recall@1", "recall@10", "mrr@10", "ndcg@10"]).mean
    assert {name: round(value, 3) for name, value in found.items()} == {
        "recall@1": 0.894,
        "recall@10": 0.988,
        "mrr@10": 0.935,
        "ndcg@10": 0.949,
    }


@pytest.mark.slow
def test_lesson_01_runs_on_a_real_set_by_parameters_alone(real_data: Path):
    """A reader who names his own folder must get the whole lesson, not an error half way."""
    parameters = {"DATASET": str(real_data / "xquad_en"), "MAX_QUERIES": 50}
    executed = execute(ROOT, lesson_path(ROOT, "en", "01_evaluation"), parameters=parameters)
    outputs = {cell.id: cell.outputs for cell in code_cells(executed)}
    assert "passages = 240" in outputs["load"][0].text
    assert any("image/png" in output.get("data", {}) for output in outputs["growth"])
    assert all(output.output_type != "error" for found in outputs.values() for output in found)
