"""The report on one's own model and data: what it shows, what it must not let through, and what it refuses."""

import contextlib
import hashlib
import json
from pathlib import Path

import nbformat
import numpy as np
import pytest

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.models import OFFLINE_DEFAULT, load_model
from helpers.report import LESSONS, NOTES, SECTIONS, given, main, parser, write_page

from .sample import code, notebook
from .tools.execute import OFFLINE, cache_folder, execute, parameter_names
from .tools.notebooks import ROOT, NotebookError, code_cells, lesson_names, read

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> **bold** $x^2$"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Let the kernel find the shared cache and no network."""
    for name, value in (OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(ROOT))}).items():
        monkeypatch.setenv(name, value)


def write(path: Path, answers: list[str]) -> tuple[str, str]:
    """Write questions and answers as a CSV whose columns have names of their own, and some embeddings of them."""
    questions = [f"question {row} {EVIL}" for row in range(len(answers))]
    rows = "".join(f'"{question}","{text}"\n' for question, text in zip(questions, answers, strict=True))
    path.write_text("asked,answer\n" + rows, encoding="utf-8")
    some = np.random.default_rng(0).standard_normal((2, len(answers), 4)).astype(np.float32)
    some /= np.linalg.norm(some, axis=2, keepdims=True)
    return str(path), str(
        write_vectors(path.parent / "vectors", passages=(answers, some[0]), queries=(questions, some[1]))
    )


def write_vectors(folder: Path, **sides: tuple[list[str], np.ndarray]) -> Path:
    """Write embeddings beside their texts, which a report takes in the place of a model."""
    folder.mkdir()
    for stem, (texts, vectors) in sides.items():
        np.save(folder / f"{stem}.npy", vectors)
        (folder / f"{stem}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return folder


def test_report_of_own_data_is_one_safe_page(tmp_path):
    """Markup in somebody's passages would run in the reader's browser, or the page would lack a section.

    Eight passages, fewer than the ten of the usual cutoff; a list on the command line would stay text.
    """
    data, model = write(tmp_path / "我的 <i>数据.csv", [f"passage {row} of eight {EVIL}" for row in range(8)])
    out = tmp_path / "out"
    options = ["--columns", "query=asked, positive=answer", "-p", "MAX_QUERIES=4", "-p", "CUTOFFS=[1, 2]"]
    assert main(["--data", data, "--model", model, *options, "--out", str(out)]) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "queries = 4" in page
    assert "<th>recall@2</th>" in page
    assert page.count("data:image/png;base64,") == 2
    assert page.count('alt="95 % intervals over the queries"') == 1
    assert all(f"<h2>{heading}</h2>" in page for heading, _ in SECTIONS.values())
    assert "&lt;script&gt;" in page
    for forbidden in ("<script", "<img src=x", "<i>", "<strong>", "http://", "https://", str(tmp_path), "load_dataset"):
        assert forbidden not in page


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Return a folder of the bundled model's embeddings of the bundled collection."""
    data, model = load_dataset(max_queries=20), load_model()
    passages, queries = encode(model, data.corpus), encode(model, data.queries, kind="query")
    return write_vectors(tmp_path / "my <i>vectors", passages=(data.corpus, passages), queries=(data.queries, queries))


def test_embeddings_are_compared_with_the_model_they_came_from(tmp_path, vectors):
    """They must differ by 0 with p = 1; a shuffled pairing, or vectors of other texts, would show here."""
    options = ["-p", "MAX_QUERIES=20", "--language", "zh", "--out", str(tmp_path)]
    assert main(["--model", str(vectors), "--against", OFFLINE_DEFAULT, *options]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "pooling: precomputed, 384 dimensions\n" in page
    assert "longest input in tokens = unknown" in page
    for file in vectors.iterdir():
        assert hashlib.sha256(file.read_bytes()).hexdigest() in page
    assert "<th>my &lt;i&gt;vectors</th>" in page
    assert "<i>" not in page
    table = page[page.index("<h3>MRR@10</h3>") : page.index("<h3>nDCG@10</h3>")]
    assert f"<th>{OFFLINE_DEFAULT}</th>" in table
    assert load_model(OFFLINE_DEFAULT).info.weights_sha256 in page
    assert "<td>0.0000</td>" in table
    assert "<td>1.0000</td>" in table
    assert str(tmp_path) not in page


def test_a_section_without_outputs_is_left_out(tmp_path):
    """A model without a second failure would get a heading with nothing under it."""
    cells = []
    for cell_id in SECTIONS:
        outputs = [nbformat.v4.new_output("stream", text=cell_id)] * (cell_id != "failure-two")
        cells.append(nbformat.v4.new_code_cell(id=cell_id, outputs=outputs))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    write_page(tmp_path / "a.ipynb", tmp_path / "a.html", "a", language="zh")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h2>最差的一例</h2>" in page
    assert "<h2>其次的一例</h2>" not in page
    assert all(note in page for _, note in NOTES.values())


def test_an_unknown_parameter_is_refused(tmp_path, capsys):
    """Papermill passes over a misspelt name in silence, and the report would be of something else."""
    assert main(["-p", "MAX_QUERYS=4", "--out", str(tmp_path)]) == 1
    assert "no parameter MAX_QUERYS; it has MODEL, DATASET" in capsys.readouterr().err


@pytest.mark.parametrize(("given", "refused"), [({"MAX_QUERYS": 5, "CUTOFFS": [3]}, True), ({"CUTOFFS": [3]}, False)])
def test_a_lesson_itself_refuses_an_unknown_parameter(given, refused, tmp_path):
    """Plain papermill sets MAX_QUERYS, and the lesson would evaluate something else than was asked."""
    own = code("parameters", "MAX_QUERIES: int = 9\nCUTOFFS = [1, 10]  # k", ["parameters"])
    lesson = notebook(own, code("next", "from helpers.provenance import check_parameters\ncheck_parameters()"))
    expected = pytest.raises(NotebookError, match="no parameter MAX_QUERYS; it has MAX_QUERIES, CUTOFFS")
    with expected if refused else contextlib.nullcontext():
        execute(lesson, "x", root=tmp_path, parameters=given)


@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_every_lesson_checks_its_parameters_at_once(name):
    """A lesson without the call, or with it far down, would run for minutes with a misspelt parameter."""
    cells = code_cells(read(LESSONS / "en" / f"{name}.ipynb", ROOT))
    row = next(row for row, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
    assert cells[row + 1].source.startswith("check_parameters()\n")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("HALF=False", False), ("MAX_QUERIES=None", None), ("CUTOFFS=[1, 2]", [1, 2]), ("SPLIT=dev", "dev"), ("K=7", 7)],
)
def test_settings_are_values_and_not_their_text(setting, value):
    """The text "False" counts as true: half precision would be switched on by switching it off."""
    assert given(parser().parse_args(["-p", setting]))[setting.partition("=")[0]] == value


def test_every_parameter_of_the_lesson_is_known_to_papermill():
    """Papermill reads parameters line by line and drops a line it cannot parse: that one could not be set."""
    import papermill

    path = LESSONS / "en" / "01_evaluation.ipynb"
    assert set(papermill.inspect_notebook(str(path))) == parameter_names(read(path, ROOT))


def test_an_error_in_the_lesson_is_told_in_one_line(tmp_path, capsys):
    """A stack trace of papermill would bury the message that says which file is wrong."""
    (tmp_path / "empty.csv").write_text("query,positive\n")
    assert main(["--data", str(tmp_path / "empty.csv"), "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "empty.csv: no rows" in error
    assert "Traceback" not in error
