"""Hub mode, end to end: lessons 01 and 03 read a hub on this machine, and then do so without it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat import NotebookNode

from helpers.models.find import BUNDLED, OFFLINE_DEFAULT, bundled_path
from helpers.systems.contenders import UPSTREAM_MODELS
from notebooks.kit.cells import by_id, output_texts
from notebooks.kit.execute import Parameters, execute
from notebooks.kit.notebooks import ROOT, lesson_path, read
from tests.hub import LocalHub, local_hub
from tests.models.test_layouts import LAYOUTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> Iterator[LocalHub]:
    """Serve a real collection, the bundled model under another name, and tiny files of the five upstream models."""
    root = tmp_path_factory.mktemp("hub")
    shutil.copytree(real_data / "xquad_en", root / "datasets" / "owner" / "xquad")
    bundled = bundled_path(BUNDLED[OFFLINE_DEFAULT])
    assert bundled is not None
    shutil.copytree(bundled, root / "models" / "owner" / "minilm")
    for hub_id in UPSTREAM_MODELS:
        if hub_id != OFFLINE_DEFAULT:
            LAYOUTS[hub_id](root / "models" / hub_id)
    with local_hub(root) as served:
        yield served


@pytest.fixture
def settings(hub: LocalHub, tmp_path: Path) -> dict[str, str]:
    """Give the environment of a reader whose computer has nothing yet."""
    home = {"HF_HOME": str(tmp_path / "home"), "EVAL_CACHE_DIR": str(tmp_path / "cache")}
    return {**home, "HF_ENDPOINT": hub.endpoint, "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0"}


def results(cell: NotebookNode) -> list[str]:
    """Return what a cell printed or showed, without the bars of a download."""
    bar = "application/vnd.jupyter.widget-view+json"
    shown = [output for output in cell.outputs if output.get("name") != "stderr" and bar not in output.get("data", {})]
    return output_texts(NotebookNode(cell, outputs=shown))


def run_twice(name: str, parameters: Parameters, settings: dict[str, str], hub: LocalHub) -> NotebookNode:
    """Execute a lesson with the hub, and again without it from what the first run left; the outputs must not differ."""
    lesson = read(lesson_path(ROOT, "en", name))
    first = execute(lesson, name, parameters=parameters, environment=settings)
    fetched = len(hub.fetched)
    offline = settings | {"HF_HUB_OFFLINE": "1", "EVAL_CACHE_DIR": settings["EVAL_CACHE_DIR"] + "-2"}
    second = execute(lesson, name, parameters=parameters, environment=offline)
    assert len(hub.fetched) == fetched > 0
    timed = {cell.id for cell in lesson.cells if "volatile" in cell.metadata.get("tags", [])}
    for cell in first.cells:
        if cell.cell_type == "code" and cell.id not in timed:
            assert results(cell) == results(by_id(second)[cell.id]), cell.id
    return first


def test_lesson_01_with_a_model_and_a_pinned_data_set_of_the_hub(hub: LocalHub, settings: dict[str, str]) -> None:
    """What the first lesson promises whoever changes two parameters was never run."""
    pinned = f"owner/xquad@{hub.commit('datasets', 'owner/xquad')}"
    ran = run_twice("01_evaluation", {"MODEL": "owner/minilm", "DATASET": pinned, "MAX_QUERIES": 100}, settings, hub)
    assert "240" in "\n".join(text for cell in ran.cells if cell.cell_type == "code" for text in output_texts(cell))


def test_lesson_03_with_the_five_models_of_the_hub(hub: LocalHub, settings: dict[str, str]) -> None:
    """``MODELS = "hub"`` would stop at a file that the hub has and the bundled models have not."""
    ran = run_twice("03_model_comparison", {"MODELS": "hub"}, settings, hub)
    shown = "\n".join(text for cell in ran.cells if cell.cell_type == "code" for text in output_texts(cell))
    assert all(hub_id.split("/")[1] in shown for hub_id in UPSTREAM_MODELS)
