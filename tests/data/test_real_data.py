"""Real data sets in the hub's layout, by parameters alone; the folder is named by EVAL_DATA_DIR."""

import pytest

from helpers.data import load_dataset


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
