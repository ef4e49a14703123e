"""Real data sets in the hub's layout, by parameters alone; the folder is named by EVAL_DATA_DIR."""

from pathlib import Path

import pytest

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.metrics import evaluate
from helpers.models import load_model


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
