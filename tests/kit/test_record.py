"""Executing and recording: what is kept, what is refused, and that a failure leaves the recorded files alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from nbformat import NotebookNode

from helpers.embeddings.store import Store
from notebooks.kit import __main__ as cli
from notebooks.kit import conditions
from notebooks.kit import record as recorder
from notebooks.kit import run as runner
from notebooks.kit.cells import by_id
from notebooks.kit.conditions import NOISE, Condition, shake
from notebooks.kit.execute import cache_folder, execute
from notebooks.kit.notebooks import NotebookError, lesson_path, read
from notebooks.kit.record import record
from tests.sample import NAME, code, markdown, notebook, put


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record under no other conditions, which take a while; the tests of conditions bring their own."""
    monkeypatch.setattr(recorder, "RECORDING", ())


def _contents(root: Path) -> dict[str, bytes]:
    """Return the bytes of every file below notebooks/, strays included."""
    return {str(p): p.read_bytes() for p in sorted((root / "notebooks").rglob("*")) if p.is_file()}


def _tiny(root: Path, *cells: NotebookNode) -> Path:
    """Put a lesson of these cells below root, the same in both languages, and return root."""
    put(root, notebook(*cells), notebook(*cells), "05_tiny")
    return root


def test_recording_twice_changes_nothing(project: Path) -> None:
    """Each recording would show a git diff: timings, addresses, temporary paths, dates."""
    before = _contents(project)
    assert record(project, NAME) == []
    assert _contents(project) == before


def test_changed_result_renews_both_languages(tmp_path: Path) -> None:
    """A changed result would keep old volatile outputs beside it, or not reach the Chinese notebook."""
    cells = [code("one", "print(1)"), code("time", "import time; print(time.perf_counter())", ["volatile"])]
    root = _tiny(tmp_path, markdown("text", "Words."), *cells)
    assert record(root, "05_tiny") != []
    first = by_id(read(lesson_path(root, "en", "05_tiny"), root))
    for language in ("en", "zh"):
        path = lesson_path(root, language, "05_tiny")
        path.write_text(path.read_text(encoding="utf-8").replace("print(1)", "print(2)"), encoding="utf-8")
    assert "recorded: 1" in "\n".join(record(root, "05_tiny"))
    english, chinese = (by_id(read(lesson_path(root, lang, "05_tiny"), root)) for lang in ("en", "zh"))
    assert english["one"].outputs[0].text == "2\n"
    assert english["time"].outputs != first["time"].outputs
    assert [c.get("outputs") for c in english.values()] == [c.get("outputs") for c in chinese.values()]


def test_a_recorded_lesson_says_nothing_of_the_machine(tmp_path: Path) -> None:
    """A notebook that is shared would tell the reader's name and folders: papermill writes them into it."""
    place = code("place", "import os\nimport tempfile\n\nprint(os.getcwd(), tempfile.gettempdir())")
    place.metadata["papermill"] = {"exception": "/elsewhere/reader"}
    book = notebook(markdown("text", "Words."), place)
    book.metadata["papermill"] = {
        "input_path": "/elsewhere/reader/in.ipynb",
        "output_path": "/elsewhere/reader/out.ipynb",
    }
    put(tmp_path, book, book, "05_tiny")
    record(tmp_path, "05_tiny")
    for language in ("en", "zh"):
        text = lesson_path(tmp_path, language, "05_tiny").read_text(encoding="utf-8")
        assert [word for word in ("papermill", "reader", "lesson-", str(tmp_path)) if word in text] == []
        assert "TMP TMP" in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", r"05_tiny.ipynb \[bad\] raised ZeroDivisionError: division by zero"),
        ("import os; os._exit(1)", r"05_tiny.ipynb \[bad\] the kernel died"),
    ],
)
def test_failing_lesson_stays_as_recorded(tmp_path: Path, source: str, message: str) -> None:
    """A lesson that fails would be half written, or the message would not name the cell."""
    root = _tiny(tmp_path, code("good", "print(1)"), code("bad", source), code("after", "print(2)"))
    before = _contents(root)
    with pytest.raises(NotebookError, match=message):
        record(root, "05_tiny")
    assert _contents(root) == before


def test_edited_while_it_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit made during a long recording would be lost."""
    root = _tiny(tmp_path, code("one", "print(1)"))
    path = lesson_path(root, "en", "05_tiny")

    def edit_meanwhile(book: NotebookNode, *args: object, **options: object) -> NotebookNode:
        path.write_text(path.read_text(encoding="utf-8").replace("print(1)", "print(3)"), encoding="utf-8")
        return book

    monkeypatch.setattr(recorder, "execute", edit_meanwhile)
    with pytest.raises(NotebookError, match=r"notebooks/en/05_tiny.ipynb was edited while it ran"):
        record(root, "05_tiny")
    assert "print(3)" in path.read_text(encoding="utf-8")
    assert "recorded" not in read(lesson_path(root, "en", "05_tiny"), root).metadata


def test_parameters_and_environment_reach_the_kernel(tmp_path: Path) -> None:
    """A lesson would run with other settings than the runner says, or reach for the network."""
    show = "import json, os; print(json.dumps([n, os.environ['HF_HUB_OFFLINE'], os.environ['SETTING'], os.listdir()]),"
    show += " flush=True)\nprint('more')"  # one stream, whenever the kernel flushes it
    book = notebook(code("setup", "n = 1\nother: int = 2", ["parameters"]), code("show", show))
    fresh = execute(book, "x", root=tmp_path, parameters={"n": 5}, environment={"SETTING": "on"})
    [printed] = by_id(fresh)["show"].outputs
    assert json.loads(printed.text.removesuffix("more\n")) == [5, "1", "on", []]
    assert [c.id for c in fresh.cells] == ["setup", "show"]
    assert [c.execution_count for c in fresh.cells] == [1, 2]


@pytest.mark.usefixtures("library")  # whose kernels are quick to start
def test_run_tells_what_each_lesson_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make run` would hide an output that differs, one broken lesson the others, or nobody would see that it works."""
    monkeypatch.setattr(runner, "AT_ONCE", 1)
    cells = {"05_fails": "raise ValueError('no')", "06_differs": "print(1)", "07_same": "x = 1"}
    for name, source in cells.items():
        put(tmp_path, *(notebook(code("only", source)) for _ in range(2)), name)
    assert cli.main(["--root", str(tmp_path), "run"]) == 1
    shown = capsys.readouterr()
    assert "05_fails.ipynb [only] raised ValueError: no" in shown.err
    wanted = ["3 lessons", *(f"{name}: started" for name in cells), "06_differs: 1 outputs differ from the record"]
    wanted += ["07_same: every output as recorded", "  [only] outputs (number and kind)", "make record NB=06_differs"]
    assert [line for line in [*wanted, "1 lessons differ", "make lab"] if line not in shown.out] == []
    told = (tmp_path / runner.REPORT).read_text(encoding="utf-8")
    assert [
        part for part in ("instructions", "numpy", "recorded: (none)", "fresh:    stdout") if part not in told
    ] == []
    executed = tmp_path / "build" / "notebooks" / "en" / "06_differs.ipynb"
    assert by_id(read(executed, tmp_path))["only"].outputs[0].text == "1\n"


def test_matrix_shows_what_a_condition_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that depends on a setting would count as stable, or a stable one not."""
    trials = [Condition("a variable", {"SETTING": "on"}, None), Condition("another", {"OTHER": "on"}, None)]
    monkeypatch.setattr(conditions, "CONDITIONS", trials)
    show = code("show", "import os\nprint('SETTING' in os.environ)")
    root = _tiny(tmp_path, show)
    record(root, "05_tiny")
    assert cli.main(["--root", str(root), "matrix", "--only", "third"]) == 0
    assert cli.main(["--root", str(root), "matrix", "--only", "other", "variable"]) == 1
    said = capsys.readouterr().out
    assert "05_tiny, a variable: [show] text, line 1" in said
    assert said.count("05_tiny, another: as recorded") == 1


def test_noise_moves_every_vector_a_little_and_equal_ones_alike(tmp_path: Path) -> None:
    """A record would count as stable because the vectors did not move, or as unstable because ties were broken."""
    vectors = np.random.default_rng(0).normal(size=(50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[1] = vectors[0]
    vectors[:, 7] *= 1e-9
    moved = shake(vectors, 1)
    assert np.array_equal(np.sign(moved[:, 7]), np.sign(vectors[:, 7]))
    distances = np.linalg.norm(moved.astype(float) - vectors, axis=1)
    assert (distances > 0.8 * NOISE).all()
    assert (distances < 1.2 * NOISE).all()
    assert np.array_equal(moved[0], moved[1])
    assert not np.array_equal(moved, shake(vectors, 2))
    lengths = [np.linalg.norm(rows, axis=1) for rows in (moved, vectors)]
    np.testing.assert_allclose(*lengths, atol=1e-6)


def test_a_figure_at_the_edge_of_rounding_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cosine that another processor rounds to another last digit would be recorded, and fail there.

    Tried on the same vectors, or with all texts encoded anew, a lesson would show nothing.
    """
    vectors = np.random.default_rng(0).normal(size=(2, 384)).astype(np.float32)
    store = Store(cache_folder(tmp_path) / "shards")
    store.write("ab" * 32, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    file = store.path("ab" * 32).name
    show = f"import os\nimport numpy as np\na, b = np.load(os.environ['EVAL_CACHE_DIR'] + '/shards/{file}')\n"
    fine, coarse = (code("cosine", show + f"print(round(float(a @ b) * 1e{digits}))") for digits in (9, 2))
    monkeypatch.setattr(recorder, "RECORDING", [Condition("noise, seed 1", {}, 1)])
    with pytest.raises(NotebookError, match=r"(?s)noise, seed 1.*\[cosine\]"):
        record(_tiny(tmp_path, fine), "05_tiny")
    assert record(_tiny(tmp_path, coarse), "05_tiny")
