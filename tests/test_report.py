"""The report on one's own model and data: what it shows, what it must not let through, and what it refuses."""

from pathlib import Path

import pytest

from helpers.report import LESSONS, SECTIONS, main

from .tools.execute import OFFLINE, cache_folder, parameter_names
from .tools.notebooks import ROOT, read

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> **bold** $x^2$"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Let the kernel find the shared cache and no network."""
    for name, value in (OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(ROOT))}).items():
        monkeypatch.setenv(name, value)


def write(path: Path, answers: list[str]) -> Path:
    """Write questions and answers as a CSV whose columns have names of their own."""
    rows = "".join(f'"question {row} {EVIL}","{text}"\n' for row, text in enumerate(answers))
    path.write_text("asked,answer\n" + rows, encoding="utf-8")
    return path


def test_report_of_own_data_is_one_safe_page(tmp_path):
    """Markup in somebody's passages would run in the reader's browser, or the page would lack a section."""
    answers = [f"passage {row} of twelve {EVIL}" for row in range(12)]
    data = write(tmp_path / "我的 <i>数据.csv", answers)
    out = tmp_path / "out"
    columns = "query=asked, positive=answer"
    assert main(["--data", str(data), "--columns", columns, "-p", "MAX_QUERIES=4", "--out", str(out)]) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "queries = 4" in page
    assert page.count("data:image/png;base64,") == 2
    assert page.count('alt="95 % intervals over the queries"') == 1
    assert all(f"<h2>{heading}</h2>" in page for heading, _ in SECTIONS.values())
    assert "&lt;script&gt;" in page
    for forbidden in ("<script", "<img src=x", "<i>", "<strong>", "http://", "https://", str(tmp_path), "load_dataset"):
        assert forbidden not in page


def test_two_models_are_compared_by_a_paired_test(tmp_path, minilm_copy):
    """The same weights under two names must differ by 0 with p = 1; a shuffled pairing would show here."""
    assert (
        main(["--against", str(minilm_copy), "-p", "MAX_QUERIES=20", "--language", "zh", "--out", str(tmp_path)]) == 0
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    table = page[page.index("<h3>MRR@10</h3>") : page.index("<h3>nDCG@10</h3>")]
    assert "<th>twin</th>" in table
    assert "<td>0.0000</td>" in table
    assert "<td>1.0000</td>" in table
    assert str(minilm_copy) not in page


@pytest.fixture
def minilm_copy(tmp_path: Path) -> Path:
    """Return a folder of the bundled model's files under another name."""
    from helpers.models import OFFLINE_DEFAULT, find_model

    folder = tmp_path / "twin"
    folder.mkdir()
    for file in find_model(OFFLINE_DEFAULT).iterdir():
        (folder / file.name).symlink_to(file)
    return folder


def test_an_unknown_parameter_is_refused(tmp_path, capsys):
    """Papermill passes over a misspelt name in silence, and the report would be of something else."""
    assert main(["-p", "MAX_QUERYS=4", "--out", str(tmp_path)]) == 1
    assert "no parameter MAX_QUERYS; it has MODEL, DATASET" in capsys.readouterr().err


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
