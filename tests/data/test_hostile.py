"""Folders and files that a stranger wrote to harm: each is refused in one line, or does no harm.

Beside each folder lies a secret. Whatever an attempt does, the secret stays unread, and no connection is tried.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.data import RetrievalDataset, from_ids, load_dataset, trec
from tests.data.files import beir, jsonl, pictures, put
from tests.watch import watched

CANARY = "the secret of another folder"
ROWS = "query,positive\none,uno\n"


class Trap:
    """A folder ``own`` for what a stranger wrote, and a folder ``secret`` beside it."""

    def __init__(self, root: Path):
        """Plant the secret, as every file that a collection may have."""
        self.root, self.own, self.secret = root, root / "own", root / "secret"
        self.own.mkdir()
        put(self.secret / "dev.csv", f"query,positive\n{CANARY},{CANARY}\n")
        put(self.secret / "README.md", f"---\nconfigs: {CANARY}\n---\n")
        secret = [{"_id": "q0", "text": CANARY}, {"_id": "00", "text": CANARY}]
        beir(self.secret, **{"queries.jsonl": jsonl(secret), "corpus.jsonl": jsonl(secret)})
        put(self.secret / "qrels" / "dev.tsv", f"q0\t00\t1\t{CANARY}\n")

    def refused(self, message: str, source: Path | None = None, **arguments: Any) -> None:
        """Load the folder, or another source, and see that it is refused in a line that repeats no secret."""
        with watched(self.secret), pytest.raises(ValueError, match=message) as caught:
            load_dataset(source or self.own, **arguments)
        assert CANARY not in str(caught.value)
        assert "\n" not in str(caught.value)

    def harmless(self, source: Path | None = None, **arguments: Any) -> RetrievalDataset:
        """Load the folder, or another source, and see that no secret is in it."""
        with watched(self.secret):
            data = load_dataset(source or self.own, **arguments)
        assert CANARY not in str((data.queries, data.corpus, data.query_ids, data.corpus_ids))
        return data


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """Give an empty folder beside a secret."""
    return Trap(tmp_path)


def one(**entries: object) -> dict[str, object]:
    """Return settings of one configuration."""
    return {"configs": [{"config_name": "default", **entries}]}


@pytest.mark.parametrize(
    "settings",
    [
        one(data_files="../secret/dev.csv"),
        one(data_files={"dev": ["{secret}/*.csv"]}),
        one(data_files=[{"split": "dev", "path": "hf://datasets/owner/name/dev.csv"}]),
        one(data_files=[{"split": "dev", "path": ["own.csv", "..\\secret\\dev.csv"]}]),
        one(data_files="C:\\secret\\dev.csv"),
        {"configs": [{"config_name": "x", "data_files": "own.csv"}, {"config_name": "y", "data_dir": "../secret"}]},
    ],
)
def test_a_data_folder_cannot_name_files_elsewhere(trap: Trap, settings: object):
    """A downloaded folder could put any file of the reader's machine into a report, or reach out to a server.

    The settings may nest names in lists and mappings, and any configuration may be the one that is read.
    """
    text = json.dumps(settings).replace("{secret}", str(trap.secret))
    put(trap.own / "own.csv", ROWS)
    put(trap.own / "README.md", f"---\n{text}\n---\n")
    trap.refused("which is outside the folder")


@pytest.mark.parametrize(("name", "target"), [("dev.csv", "hop.csv"), ("README.md", "../secret/README.md")])
def test_a_data_folder_cannot_link_to_files_elsewhere(trap: Trap, name: str, target: str):
    """A link inside the folder would read the reader's other files, or an error quote them, just as a path does."""
    put(trap.own / "rows.csv", ROWS)
    (trap.own / "hop.csv").symlink_to(trap.secret / "dev.csv")
    (trap.own / name).symlink_to(target)
    trap.refused("leads outside the folder")


@pytest.mark.parametrize("target", ["../secret", ".", "parts"])
def test_links_to_folders_are_not_searched_and_links_within_the_folder_are_read(trap: Trap, target: str):
    """A search through the whole disk would never end; data sets share files between configurations by links."""
    put(trap.own / "parts" / "1.csv", ROWS)
    (trap.own / "dev.csv").symlink_to("parts/1.csv")
    (trap.own / "data").symlink_to(target)
    assert trap.harmless().corpus == ["uno"]


@pytest.mark.parametrize("is_hub", [True, False])
def test_the_hub_s_own_cache_may_link_to_its_blobs(trap: Trap, is_hub: bool):
    """Every downloaded set is a folder of links to blobs; laid out alike, one could link blobs to anywhere."""
    snapshot, blobs = (trap.root / "datasets--a--b" / name for name in ("snapshots/0123/data", "blobs"))
    snapshot.mkdir(parents=True)
    put(blobs / "dev.csv", ROWS) if is_hub else blobs.symlink_to(trap.secret)
    (snapshot / "dev.csv").symlink_to("../../../blobs/dev.csv")
    if is_hub:
        assert trap.harmless(snapshot).corpus == ["uno"]
    else:
        trap.refused("leads outside the folder", snapshot)


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("name", ["queries.jsonl", "corpus.jsonl", "qrels"])
def test_files_by_id_cannot_be_links_to_elsewhere(trap: Trap, name: str, by_name: bool):
    """BEIR's layout is read file by file: each of them would be a way to the reader's other files."""
    link = beir(trap.own) / name
    link.rename(trap.root / "moved")
    link.symlink_to(trap.secret / name)
    files = {"queries": "queries.jsonl", "corpus": "corpus.jsonl", "qrels": "qrels/dev.tsv"} if by_name else {}
    trap.refused("leads outside the folder", **files)


@pytest.mark.parametrize("queries", ["{root}/mine/queries.jsonl", "../mine/queries.jsonl", "link.jsonl"])
def test_a_path_that_the_reader_gives_may_lie_anywhere(trap: Trap, queries: str, monkeypatch: pytest.MonkeyPatch):
    """The rule is for what a folder says: a reader's own path, absolute or a link of his, is his own business."""
    beir(trap.own), beir(trap.root / "mine")
    (trap.root / "link.jsonl").symlink_to(trap.root / "mine" / "queries.jsonl")
    (trap.root / "link").symlink_to(trap.own)
    monkeypatch.chdir(trap.root)
    files = {"queries": queries.format(root=trap.root), "corpus": "corpus.jsonl", "qrels": "qrels/dev.tsv"}
    assert trap.harmless(trap.root / "link", **files).queries == ["one", "two"]


def test_a_column_of_pictures_has_no_file_opened(trap: Trap):
    """A table or card may say of a column of paths that it holds pictures: they would be opened, wherever they lead."""
    path = str(trap.secret / "dev.csv")
    put(trap.own / "dev.csv", f"query,positive\none,{path}\n")
    settings = one(data_files="dev.csv", features=[{"name": "positive", "dtype": "image"}])
    put(trap.own / "README.md", f"---\n{json.dumps(settings)}\n---\n")
    assert trap.harmless().corpus == [path]
    put(trap.own / "dev.parquet", pictures(path))
    trap.refused("is of type dict", trap.own / "dev.parquet")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("- a\n- b", "must map the name configs"),
        ("a: !!python/object/apply:os.system ['touch {secret}/written']", "settings are not YAML"),
        ("configs: [{config_name: a, data_files: 7}]", "data_files must be a path"),
        ("configs: [{config_name: a, data_files: other.csv}]", "name 'other.csv', and there is no such file"),
    ],
)
def test_settings_of_any_form_are_answered_in_one_line(trap: Trap, settings: str, message: str):
    """A card could run code, or end in a page of calls that does not name it."""
    put(trap.own / "dev.csv", ROWS)
    put(trap.own / "README.md", "---\n" + settings.replace("{secret}", str(trap.secret)) + "\n---\n")
    trap.refused(message)
    assert not (trap.secret / "written").exists()


def test_nothing_but_tables_is_opened(trap: Trap):
    """A loading script or a pickle runs code, and an archive may write elsewhere."""
    for name in ("own.py", "dev.pkl", "dev.zip"):
        put(trap.own / name, b"open('written', 'w')")
    trap.refused("Cannot read the data set 'own': no table in it")


def test_a_long_field_of_a_csv_loads(trap: Trap):
    """The module csv gives up at 131,072 characters."""
    path = put(trap.own / "a.csv", f"query,positive\none,{'u' * 200_000}\n")
    assert trap.harmless(path).corpus == ["u" * 200_000]


def test_export_writes_all_or_nothing(tmp_path: Path):
    """Half a collection on the disk would be taken for the whole."""
    for query, passage in (("q 1", "p1"), ("q1", "p\n1")):
        data = from_ids("tiny", {query: "one"}, {passage: "uno"}, {query: {passage: 1}})
        with pytest.raises(ValueError, match="cannot be written"):
            trec.export(data, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()
