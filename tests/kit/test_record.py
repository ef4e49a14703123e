"""Executing and recording: what is kept, what is refused, and that a failure leaves the recorded files alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from nbformat import NotebookNode

from helpers.embeddings.store import Store
from notebooks.kit import __main__ as cli
from notebooks.kit import conditions as conditions_of_records
from notebooks.kit import notebooks as files
from notebooks.kit import record as recorder
from notebooks.kit import run as runner
from notebooks.kit.cells import alt_text, by_id, plain
from notebooks.kit.conditions import (
    NOISE,
    Condition,
    conditions,
    recording_conditions,
    shake,
    temporary_cache,
)
from notebooks.kit.execute import cache_folder, execute, parameter_names
from notebooks.kit.notebooks import NotebookError, lesson_path, read
from notebooks.kit.record import record
from notebooks.kit.run import REPORT
from tests.sample import ALT, NAME, code, markdown, notebook, put


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record under no other conditions, which take a while; the tests of conditions bring their own."""
    monkeypatch.setattr(recorder, "recording_conditions", lambda _: {})


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


def test_chinese_prose_and_alt_text_stay(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recording would overwrite what the translator wrote."""
    path = lesson_path(project, "zh", NAME)
    before = by_id(read(path, project))
    fresh = read(lesson_path(project, "en", NAME), project)
    by_id(fresh)["printed"].outputs[0].text = by_id(fresh)["printed"].outputs[0].text.replace("120", "121")
    monkeypatch.setattr(recorder, "execute", lambda *_, **__: fresh)
    assert record(project, NAME) != []
    after = by_id(read(path, project))
    assert alt_text(after["figure"]) == ALT["zh"]
    assert after["printed"].outputs[0].text.split("\n")[1] == "queries: 121"
    assert {i: c for i, c in after.items() if c.cell_type == "markdown" or i == "figure"} == {
        i: c for i, c in before.items() if c.cell_type == "markdown" or i == "figure"
    }


def test_plain_knows_temporary_folders() -> None:
    """A temporary folder of another system would count as a difference."""
    slash = "/"
    assert plain(slash.join(["see ", "tmp", "abc_1", "x.npy"])) == "see TMP/x.npy"
    assert plain(slash.join(["", "var", "folders", "a1", "b2", "T", "tmpq", "x"])) == "TMP/x"
    assert plain(slash.join(["", "var", "tmp", "abc", "x"])) == "TMP/x"
    assert plain("<a at 0x7F00aa12, 0x10>") == "<a at 0x0, 0x10>"


FAILURES: dict[str, tuple[str, str]] = {
    "raises": ("1 / 0", r"05_tiny.ipynb \[bad\] raised ZeroDivisionError: division by zero"),
    "hangs": ("import time; time.sleep(60)", r"05_tiny.ipynb \[bad\] took longer than 3 s"),
    "dies": ("import os; os._exit(1)", r"05_tiny.ipynb \[bad\] the kernel died"),
}


@pytest.mark.parametrize(("source", "message"), FAILURES.values(), ids=FAILURES)
def test_failing_lesson_stays_as_recorded(tmp_path: Path, source: str, message: str) -> None:
    """A lesson that fails would be half written, or the message would not name the cell."""
    root = _tiny(tmp_path, code("good", "print(1)"), code("bad", source), code("after", "print(2)"))
    before = _contents(root)
    with pytest.raises(NotebookError, match=message):
        record(root, "05_tiny", limit=3)
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


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk would leave half a notebook, or a stray temporary file."""
    root = _tiny(tmp_path, code("one", "print(1)"))
    before = _contents(root)

    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(files.Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_files({lesson_path(root, lang, "05_tiny"): "new" for lang in ("en", "zh")})
    assert _contents(root) == before


def test_parameters_and_environment_reach_the_kernel(tmp_path: Path) -> None:
    """A lesson would run with other settings than the runner says, or reach for the network."""
    show = "import json, os; print(json.dumps([n, os.environ['HF_HUB_OFFLINE'], os.environ['SETTING'], os.listdir()]))"
    book = notebook(code("setup", "n = 1\nother: int = 2", ["parameters"]), code("show", show))
    assert parameter_names(book) == {"n", "other"}
    fresh = execute(book, "x", root=tmp_path, parameters={"n": 5}, environment={"SETTING": "on"})
    assert json.loads(by_id(fresh)["show"].outputs[0].text) == [5, "1", "on", []]
    assert [c.id for c in fresh.cells] == ["setup", "show"]
    assert [c.execution_count for c in fresh.cells] == [1, 2]


def test_streams_are_whole(tmp_path: Path) -> None:
    """The number of stream outputs would depend on when the kernel flushed them."""
    source = "import sys\nfor n in range(3):\n    print(n)\n    sys.stdout.flush()"
    fresh = execute(notebook(code("one", source)), "x", root=tmp_path)
    assert [o.text for o in fresh.cells[0].outputs] == ["0\n1\n2\n"]


def test_run_says_what_differs_from_the_record(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make run` would hide an output that differs, or not say how to record it."""
    fresh = read(lesson_path(project, "en", NAME), project)
    monkeypatch.setattr(runner, "execute_lesson", lambda *_, **__: fresh)

    def shown() -> str:
        status = cli.main(["--root", str(project), "run", NAME])
        text = capsys.readouterr().out
        assert status == ("differs" in text)
        return text

    text = shown()
    assert "00_sample: every output as recorded" in text
    assert "make record" not in text
    path = lesson_path(project, "en", NAME)
    path.write_text(path.read_text(encoding="utf-8").replace("best = 0.6667", "best = 0.7"), encoding="utf-8")
    text = shown()
    assert "00_sample: 1 outputs differ" in text
    assert [part for part in ("[printed] number", "`make record`") if part not in text] == []
    report = (project / REPORT).read_text(encoding="utf-8")
    assert [part for part in ("instructions", "numpy", "recorded: 0.7", "fresh:    0.6667") if part not in report] == []
    executed = project / "build" / "notebooks" / "en" / f"{NAME}.ipynb"
    assert by_id(read(executed, project))["printed"].outputs[0].text.startswith("best = 0.6667")


def test_run_goes_on_after_a_lesson_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One broken lesson would hide the others, or pass as success."""
    root = _tiny(tmp_path, code("bad", "raise ValueError('no')"))
    put(root, notebook(code("one", "print(1)")), notebook(code("one", "print(1)")), "06_tiny")
    assert cli.main(["--root", str(root), "run"]) == 1
    shown = capsys.readouterr()
    assert "05_tiny.ipynb [bad] raised ValueError: no" in shown.err
    assert "06_tiny: 1 outputs differ from the record" in shown.out


def test_conditions_show_what_a_batch_size_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that depends on the batch size would count as stable, or a stable one not."""
    monkeypatch.setattr(recorder, "recording_conditions", recording_conditions)
    monkeypatch.setattr(conditions_of_records, "SEEDS", (2,))
    cells = [code("setup", "BATCH_SIZE = 16", ["parameters"]), code("show", "print(BATCH_SIZE)\nprint('same', 5)")]
    root = _tiny(tmp_path, cells[0], code("show", "print('same', 5)"))
    record(root, "05_tiny")
    assert cli.main(["--root", str(root), "matrix", "--only", "batch size 1"]) == 0
    root = _tiny(tmp_path, *cells)
    record(root, "05_tiny")
    assert cli.main(["--root", str(root), "matrix", "--only", "SSE4"]) == 1
    assert "batch size 1" not in conditions(notebook(cells[1]))


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


def test_a_shaken_cache_has_the_vectors_of_the_usual_one(tmp_path: Path) -> None:
    """A lesson would be tried on the same vectors, or encode all its texts anew: no output would be seen to move."""
    vectors = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    Store(tmp_path / "build" / "cache" / "shards").write("a", vectors)
    with temporary_cache(tmp_path, seed=1) as cache:
        moved = Store(cache / "shards").read("a")
        assert moved is not None
        assert 0 < np.abs(moved - vectors).max() < 1e-3


def test_a_figure_at_the_edge_of_rounding_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cosine that another processor rounds to another last digit would be recorded, and fail there."""
    vectors = np.random.default_rng(0).normal(size=(2, 384)).astype(np.float32)
    store = Store(cache_folder(tmp_path))
    store.write("ab" * 32, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    file = store.path("ab" * 32).name
    show = f"import os\nimport numpy as np\na, b = np.load(os.environ['EVAL_CACHE_DIR'] + '/{file}')\n"
    fine, coarse = (code("cosine", show + f"print(round(float(a @ b) * 1e{digits}))") for digits in (9, 2))
    monkeypatch.setattr(recorder, "recording_conditions", lambda _: {"noise, seed 1": Condition(seed=1)})
    with pytest.raises(NotebookError, match=r"noise, seed 1: \[cosine\]"):
        record(_tiny(tmp_path, fine), "05_tiny")
    assert record(_tiny(tmp_path, coarse), "05_tiny")
