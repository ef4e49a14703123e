"""The modules that every room uses: where things are kept, one process at a time, bars, the hub."""

import http.client
import multiprocessing
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from huggingface_hub import constants

from helpers._hub import DEFAULT_ENDPOINT, hub_or_local_cache, reachable
from helpers._io import as_cell, default_cache, default_language, one_at_a_time, whole_file, whole_folder
from helpers._optional import Note, progress_bar


def test_the_cache_stands_where_it_is_named(tmp_path, monkeypatch):
    """Gigabytes would be written where nobody looks for them, or computed anew in each session."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert default_cache() == tmp_path / "named"
    monkeypatch.delenv("EVAL_CACHE_DIR")
    assert default_cache() == tmp_path / "user" / "retrieval-evaluation-tutorial"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert default_cache() == tmp_path / "home" / ".cache" / "retrieval-evaluation-tutorial"


@pytest.mark.parametrize(
    ("variables", "language"),
    [({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"), ({"LANG": "de_DE"}, "en"),
     ({"EVAL_LANGUAGE": "zh", "LC_ALL": "en_US"}, "zh"), ({"EVAL_LANGUAGE": "en", "LANG": "zh_TW"}, "en"),
     ({"system": "Chinese (Simplified)_China"}, "zh"), ({}, "en")],
)  # fmt: skip
def test_what_a_reader_meets_first_is_in_the_language_of_the_locale(monkeypatch, variables, language):
    """A Chinese reader's first report, or the first word on an exercise, would be in English."""
    for name in ("EVAL_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("locale.getlocale", lambda: (variables.pop("system", None), None))
    for name, value in variables.items():
        if name != "system":
            monkeypatch.setenv(name, value)
    assert default_language() == language


@pytest.mark.parametrize(
    ("show", "disable", "drawn"),
    [(True, None, True), (True, "0", True), (True, "False", True), (True, "", True), (True, "1", False),
     (False, None, False)],
)  # fmt: skip
def test_bars_are_drawn_where_they_are_wanted(monkeypatch, show, disable, drawn):
    """A bar would fill the record of a lesson, or a reader wait for hours without one."""
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    if disable is not None:
        monkeypatch.setenv("TQDM_DISABLE", disable)
    with progress_bar(3, "Encode", "text", show=show) as bar:
        assert bar.disable is not drawn
        assert bar.total == 3 or not drawn


@pytest.mark.parametrize("text", ["=1+1", "  =1+1", "-2", "@SUM(A1)", "＝1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(text):
    """A passage from a stranger would run as a formula on the machine of whoever opens the sheet."""
    assert as_cell(text) == f"'{text}"
    assert as_cell(f"a {text}") == f"a {text}"


def test_a_warning_reads_as_its_text():
    """A terminal would show blanks, or the values beside the sentence."""
    assert str(Note("{count} of {of} are missing.", count=3, of=4)) == "3 of 4 are missing."


def _hold(folder: Path, entered: "multiprocessing.synchronize.Event") -> None:
    """Enter the block and stay for a while."""
    with one_at_a_time(folder):
        entered.set()
        time.sleep(0.5)
        folder.mkdir()


def test_one_process_at_a_time_fills_a_folder(tmp_path):
    """Two that convert a model at once would each delete what the other has half written."""
    folder = tmp_path / "not" / "yet" / "model"
    spawned = multiprocessing.get_context("spawn")
    entered = spawned.Event()
    first = spawned.Process(target=_hold, args=(folder, entered))
    first.start()
    assert entered.wait(60)
    with one_at_a_time(folder):
        assert folder.is_dir()  # the first was let finish
    assert folder.parent.stat().st_mode & 0o077 == 0, "others could put a model there"
    first.join()
    assert first.exitcode == 0


def test_a_folder_is_written_whole_or_not_at_all(tmp_path):
    """A killed conversion would leave a folder that looks like a model."""
    folder, part = tmp_path / "model", tmp_path / ".model.part"
    part.mkdir()
    (part / "left").write_text("by a killed process")
    with pytest.raises(FileNotFoundError), whole_folder(folder) as made:
        (made / "file").rename(made / "nowhere" / "file")
    assert list(tmp_path.iterdir()) == []
    for text in ("old", "new"):
        with whole_folder(folder) as made:
            assert list(made.iterdir()) == []
            (made / text).write_text(text)
        assert [entry.name for entry in folder.iterdir()] == [text]
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("address", [DEFAULT_ENDPOINT, "https://mirror.example"])
def test_the_address_asked_and_named_is_the_mirror_where_one_is_set(monkeypatch, address):
    """The hub would be asked where it is blocked; or a reader look for the fault at an address that was never asked."""
    urls = []
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    if address != DEFAULT_ENDPOINT:
        monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: urls.append((url, timeout)))
    assert reachable()
    monkeypatch.setenv("HF_HUB_OFFLINE", "on")
    assert not reachable()
    assert urls == [(address, 5)]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with hub_or_local_cache("the model 'm'", "pocket"):
        assert constants.HF_HUB_OFFLINE, "every file would be asked for in vain, again and again"
    assert not constants.HF_HUB_OFFLINE
    message = rf"the model 'm'.*the hub at {address} does not answer"
    with pytest.raises(ConnectionError, match=message), hub_or_local_cache("the model 'm'", "pocket"):
        raise OSError("not downloaded")


def test_something_else_at_the_address_of_the_hub_is_no_hub(monkeypatch):
    """A proxy that answers in no HTTP would end the report in a stack trace."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("urllib.request.urlopen", Mock(side_effect=http.client.BadStatusLine("SSH-2.0-something")))
    assert not reachable()


def test_a_file_may_have_the_longest_name_there_is(tmp_path):
    """A Chinese name of 84 characters, which is valid, would be called too long."""
    path = tmp_path / ("查" * 83 + ".trec")
    with whole_file(path) as temporary:
        temporary.write_text("x")
    assert path.read_text() == "x"
