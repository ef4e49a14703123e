"""Folders and files that a stranger wrote to harm: each is refused in one line, or does no harm.

Beside each folder lies a secret. Whatever an attempt does, the secret stays unread, nothing is written, no connection
is tried, and the answer comes within ten seconds.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.data import RetrievalDataset, load_dataset, trec
from tests.data.files import beir, jsonl, put
from tests.watch import watched

CANARY = "the secret of another folder"
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u202e]")


class Trap:
    """A folder ``own`` for what a stranger wrote, and a folder ``secret`` beside it."""

    def __init__(self, root: Path):
        """Plant the secret, as every file that a collection may have."""
        self.root, self.own, self.secret = root, root / "own", root / "secret"
        self.own.mkdir()
        put(self.secret / "dev.csv", f"query,positive\n{CANARY},{CANARY}\n")
        put(self.secret / "names.txt", CANARY)
        put(self.secret / "README.md", f"---\nconfigs: {CANARY}\n---\n")
        secret = [{"_id": "q0", "text": CANARY}, {"_id": "00", "text": CANARY}]
        beir(self.secret, **{"queries.jsonl": jsonl(secret), "corpus.jsonl": jsonl(secret)})
        put(self.secret / "qrels" / "dev.tsv", f"q0\t00\t1\t{CANARY}\n")

    def card(self, settings: object, name: str = "README.md") -> Trap:
        """Write the settings of the folder; a string as it stands."""
        text = settings if isinstance(settings, str) else json.dumps(settings)
        put(self.own / name, f"---\n{text}\n---\n" if name == "README.md" else text)
        return self

    def files(self) -> set[tuple[Path, int]]:
        """List everything around the folder, with its size."""
        return {(path, path.lstat().st_size) for path in self.root.rglob("*")}

    @contextlib.contextmanager
    def sprung(self) -> Iterator[None]:
        """Watch over an attempt."""
        before = self.files()
        with watched(self.secret):
            try:
                yield
            finally:
                assert self.files() == before, "something was written"

    def refused(self, message: str, source: Path | None = None, **arguments: Any) -> None:
        """Load the folder, or another source, and see that it is refused in a line that repeats no secret."""
        with self.sprung(), pytest.raises(ValueError, match=message) as caught:
            load_dataset(source or self.own, **arguments)
        assert CANARY not in str(caught.value)
        assert not UNSEEN.search(str(caught.value)), repr(str(caught.value))

    def harmless(self, source: Path | None = None, **arguments: Any) -> RetrievalDataset:
        """Load the folder, or another source, and see that no secret is in it."""
        with self.sprung():
            data = load_dataset(source or self.own, **arguments)
        assert CANARY not in str((data.queries, data.corpus, data.query_ids, data.corpus_ids))
        return data


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """Give an empty folder beside a secret."""
    return Trap(tmp_path)


def config(**entries: object) -> dict[str, object]:
    """Return settings of one configuration."""
    return {"configs": [{"config_name": "default", **entries}]}


# --- names that lead outside ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "card"),
    [
        ("../secret/dev.csv", "README.md"),
        ("{secret}/*.csv", ".huggingface.yaml"),
        ("hf://datasets/owner/name/dev.csv", "README.md"),
        ("zip::{secret}/x.zip", "README.md"),
        ("..\\secret\\dev.csv", "README.md"),
        ("C:\\secret\\dev.csv", "README.md"),
    ],
)
def test_a_data_folder_cannot_name_files_elsewhere(trap: Trap, files: str, card: str):
    """A downloaded folder could put any file of the reader's machine into a report, or reach out to a server."""
    files = files.replace("{secret}", str(trap.secret))
    trap.card(config(data_files=[{"split": "dev", "path": files}]), card).refused("which is outside the folder")


@pytest.mark.parametrize(
    "settings",
    [
        config(data_files="../secret/dev.csv"),
        config(data_files={"dev": ["../secret/dev.csv"]}),
        config(data_files=[{"split": "dev", "path": ["own.csv", "../secret/dev.csv"]}]),
        {"configs": [{"config_name": "x", "data_files": "own.csv"}, {"config_name": "y", "data_dir": "../secret"}]},
    ],
)
def test_no_way_of_writing_a_name_is_overlooked(trap: Trap, settings: object):
    """The settings may nest names in lists and mappings, and any configuration may be the one that is read."""
    put(trap.own / "own.csv", "query,positive\none,uno\n")
    trap.card(settings).refused("which is outside the folder")


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("target", ["../secret/dev.csv", "hop.csv"])
def test_a_data_folder_cannot_link_to_files_elsewhere(trap: Trap, named: bool, target: str):
    """A link inside the folder would read the reader's other files just as a path does."""
    if named:
        trap.card(config(data_files=[{"split": "dev", "path": "dev.csv"}]))
    (trap.own / "hop.csv").symlink_to(trap.secret / "dev.csv")
    (trap.own / "dev.csv").symlink_to(target)
    trap.refused("leads outside the folder")


@pytest.mark.parametrize("target", ["../secret", "."])
def test_a_link_to_a_folder_is_not_followed(trap: Trap, target: str):
    """A search through the whole disk, or in a circle, would never end."""
    put(trap.own / "dev.csv", "query,positive\none,uno\n")
    (trap.own / "data").symlink_to(target)
    assert trap.harmless().corpus == ["uno"]


def test_settings_cannot_be_a_link(trap: Trap):
    """What is quoted of settings in an error would be the reader's other file."""
    put(trap.own / "dev.csv", "query,positive\none,uno\n")
    (trap.own / "README.md").symlink_to(trap.secret / "README.md")
    trap.refused("leads outside the folder")


def test_links_within_the_folder_are_followed(trap: Trap):
    """Data sets share files between configurations by links: refusing these would refuse honest folders."""
    put(trap.own / "parts" / "1.csv", "query,positive\none,uno\n")
    (trap.own / "dev.csv").symlink_to("parts/1.csv")
    (trap.own / "latest").symlink_to("parts")
    assert trap.harmless().corpus == ["uno"]


@pytest.mark.parametrize("inner", ["", "data"])
def test_the_hub_s_own_cache_may_link_to_its_blobs(trap: Trap, inner: str):
    """The hub's cache keeps files as links to the folder blobs: refusing them would refuse every downloaded set."""
    snapshot = trap.root / "datasets--a--b" / "snapshots" / "0123" / inner
    blob = put(trap.root / "datasets--a--b" / "blobs" / "ab12", "query,positive\none,uno\n")
    snapshot.mkdir(parents=True)
    (snapshot / "dev.csv").symlink_to(blob)
    assert trap.harmless(snapshot).corpus == ["uno"]


def test_blobs_that_are_a_link_are_no_way_out(trap: Trap):
    """A folder laid out like the hub's cache could link blobs to anywhere."""
    snapshot = trap.root / "datasets--a--b" / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (trap.root / "datasets--a--b" / "blobs").symlink_to(trap.secret)
    (snapshot / "dev.csv").symlink_to("../../blobs/dev.csv")
    trap.refused("leads outside the folder", snapshot)


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("name", ["queries.jsonl", "corpus.jsonl", "qrels/dev.tsv", "qrels"])
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


# --- columns that open files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    "feature",
    [{"_type": "Image"}, {"_type": "Audio"}, {"_type": "ClassLabel", "names_file": "{secret}/names.txt"}],
)
def test_the_schema_of_a_table_cannot_have_files_opened(trap: Trap, feature: dict[str, str], alone: bool):
    """A table may say of a column of paths that it holds pictures: they would be opened, wherever they lead."""
    features = {"query": {"dtype": "string", "_type": "Value"}, "positive": feature}
    text = json.dumps({"info": {"features": features}}).replace("{secret}", str(trap.secret))
    cells = pa.array([{"bytes": None, "path": str(trap.secret / "names.txt")}])
    table = pa.table([pa.array(["one"]), cells], ["query", "positive"])
    pq.write_table(table.replace_schema_metadata({"huggingface": text}), trap.own / "dev.parquet")
    trap.refused("is of type dict", trap.own / "dev.parquet" if alone else None)


def test_a_path_in_a_column_is_a_text(trap: Trap):
    """A card that calls a column of paths pictures would have them opened, wherever they lead."""
    path = str(trap.secret / "names.txt")
    put(trap.own / "dev.csv", f"query,positive\none,{path}\n")
    settings = config(data_files="dev.csv", features=[{"name": "positive", "dtype": "image"}])
    assert trap.card(settings).harmless().corpus == [path]


# --- settings and JSON ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("configs: " + "[" * 500 + "]" * 500, "settings are not YAML"),
        ("- a\n- b", "must map the name configs"),
        ("configs: [text]", "must map the name configs"),
        ("a: [1, 2\nb: }", "settings are not YAML"),
        ("a: !!python/object/apply:os.system ['touch {secret}/written']", "settings are not YAML"),
        ("configs: [{config_name: a, data_files: 7}]", "data_files must be a path"),
        ("configs: [{config_name: a, data_files: [{split: [a], path: dev.csv}]}]", "Cannot read"),
        ("configs: [{config_name: a, data_files: other.csv}]", "name 'other.csv', and there is no such file"),
    ],
)
def test_settings_of_any_form_are_answered_in_one_line(trap: Trap, settings: str, message: str):
    """A card could run code, or end in a page of calls that does not name it."""
    put(trap.own / "dev.csv", "query,positive\none,uno\n")
    trap.card(settings.replace("{secret}", str(trap.secret))).refused(message)


def test_deep_json_is_answered_in_one_line(trap: Trap):
    """Some libraries end the process at some ten thousand levels, without a word."""
    deep = "[" * 30_000 + "]" * 30_000
    put(trap.own / "dev.jsonl", f'{{"query": "one", "positive": "uno", "x": {deep}}}\n')
    trap.refused("'dev.jsonl', line 1 is not JSON")


# --- code, archives ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["own.py", "dev.pkl", "dev.zip"])
def test_nothing_but_tables_is_opened(trap: Trap, name: str):
    """A loading script or a pickle runs code, and an archive may write elsewhere."""
    payload = b"cos\nsystem\n(S'touch written'\ntR." if name.endswith("pkl") else b"open('written', 'w')"
    put(trap.own / name, payload)
    trap.refused("Cannot read the data set 'own': no table in it")


# --- sizes and names --------------------------------------------------------------------------------------------------


def test_a_long_field_of_a_csv_loads(trap: Trap):
    """The module csv gives up at 131,072 characters."""
    path = put(trap.own / "a.csv", f"query,positive\none,{'u' * 200_000}\n")
    assert trap.harmless(path).corpus == ["u" * 200_000]


@pytest.mark.parametrize("grade", ["-" + "9" * 5000, str(2**31)])
def test_a_grade_beyond_all_bounds_is_answered_in_one_line(trap: Trap, grade: str):
    """It would overflow far from the file that holds it."""
    beir(trap.own, **{"qrels/dev.tsv": f"q0\t00\t{grade}\n"})
    trap.refused(
        r"dev.tsv', line 1: the grade must be a whole number of 32 bits, not -?\d{10,20}(\.|… \(\d+ characters)"
    )


ESCAPE = "\x1b]0;me\x07\u202e"


@pytest.mark.parametrize(
    "make",
    [
        lambda own: put(own / f"{ESCAPE}.jsonl", "{"),
        lambda own: put(own / f"{ESCAPE}.csv", b"\xff"),
        lambda own: put(own / "a.csv", f"{ESCAPE},b\n1,2,3\n"),
        lambda own: put(own / ESCAPE / "dev.csv", "a,b\n1,2\n").parent,
        lambda own: put(own / "x" / "README.md", '---\nconfigs: [{config_name: a, data_files: "\\e"}]\n---\n').parent,
        lambda own: beir(own / ESCAPE, **{"qrels/dev.tsv": f"q0\t{ESCAPE}\t1\n"}),
        lambda own: beir(own / ESCAPE, **{"corpus.jsonl": jsonl([{ESCAPE: "1", "text": "a"}])}),
    ],
)
def test_control_characters_do_not_reach_the_terminal(trap: Trap, make: Callable[[Path], Path]):
    """A name could clear the screen, or pass for another; each message quotes it."""
    trap.refused(r"\\x1b", make(trap.own))


def test_control_characters_in_the_name_of_a_folder_do_not_reach_tables(trap: Trap):
    """The name of a collection is printed in every table and report."""
    data = trap.harmless(put(trap.own / ESCAPE / "dev.csv", "query,positive\none,uno\n").parent)
    assert data.name == "\\x1b]0;me\\x07\\u202e"


@pytest.mark.parametrize(
    "changes", [{"query_ids": ["q 1", "q2"]}, {"corpus_ids": ["p1", "p\n2"]}, {"corpus": ["uno", "\ud800"]}]
)
def test_export_writes_all_or_nothing(trap: Trap, changes: dict[str, list[str]]):
    """Half a collection on the disk would be taken for the whole."""
    fields: dict[str, Any] = {
        "name": "tiny", "queries": ["one", "two"], "corpus": ["uno", "dos"], "qrels": [{0: 1}, {1: 1}],
        "query_ids": ["q1", "q2"], "corpus_ids": ["p1", "p2"],
    }  # fmt: skip
    data = RetrievalDataset(**fields | {name: value for name, value in changes.items() if name != "corpus"})
    data.corpus[:] = changes.get("corpus", data.corpus)  # behind the back of the check of texts
    with trap.sprung(), pytest.raises(ValueError, match=r"cannot be written|surrogates not allowed"):
        trec.export(data, trap.root / "exported")
