"""Real data sets in the hub's layout, by parameters alone; the folder is named by EVAL_DATA_DIR."""

from pathlib import Path

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.metrics import evaluate
from helpers.models import load_model
from tests.tools.execute import execute_lesson
from tests.tools.notebooks import ROOT, code_cells, lesson_path


def test_figures_of_xquad_are_those_on_its_card(real_data: Path):
    """The card's figures come from another program: agreeing with them checks the pipeline from end to end."""
    data = load_dataset(real_data / "xquad_en", split="dev", max_queries=500)
    model = load_model()
    _, ids = search(build_index(encode(model, data.corpus)), encode(model, data.queries, kind="query"), k=10)
    found = evaluate(ids, data.qrels, ["recall@1", "recall@10", "mrr@10", "ndcg@10"]).mean
    assert {name: round(value, 3) for name, value in found.items()} == {
        "recall@1": 0.894,
        "recall@10": 0.988,
        "mrr@10": 0.935,
        "ndcg@10": 0.949,
    }


def test_lesson_01_runs_on_a_real_set_by_parameters_alone(real_data: Path):
    """A reader who names his own folder must get the whole lesson, not an error half way."""
    parameters = {"DATASET": str(real_data / "xquad_en"), "MAX_QUERIES": 50}
    executed = execute_lesson(ROOT, lesson_path(ROOT, "en", "01_evaluation"), parameters=parameters)
    outputs = {cell.id: cell.outputs for cell in code_cells(executed)}
    assert "passages = 240" in outputs["load"][0].text
    assert any("image/png" in output.get("data", {}) for output in outputs["growth"])
    assert all(output.output_type != "error" for found in outputs.values() for output in found)
