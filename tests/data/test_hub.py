"""Data sets of the hub, served by a hub of our own: honest ones load, at the revision wanted; others are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from helpers.data import hub
from helpers.models.find import read_checkpoint
from tests.checkpoints import save_checkpoint
from tests.data.files import mteb, pictures, put
from tests.hub import local_hub

SECRET = b"query,positive\nthe secret,the secret\n"
ROWS = b"query,positive\none,uno\n"


def card(entry: str) -> bytes:
    """Return a README with an entry of its first configuration."""
    return f"---\nconfigs:\n- config_name: default\n  {entry}\n---\n".encode()


REPOSITORIES = {
    "outside": {
        "README.md": card(
            "data_files: [{split: test, path: qrels.jsonl}]\n- config_name: corpus\n  data_files: ../other/c.jsonl"
        )
    },
    "honest": {"README.md": b"# A data set", "dev.csv": ROWS},
    "named": {"README.md": card("data_files: [{split: dev, path: rows.csv}]"), "rows.csv": ROWS},
    "labels": {"README.md": card('features: [{dtype: {class_label: {"names\\x5ffile": {secret}/dev.csv}}}]')},
    "yaml": {".huggingface.yaml": b"configs: [{config_name: a, data_files: {secret}/dev.csv}]", "dev.csv": ROWS},
    "infos": {"dataset_infos.json": b'{"default": {"names_file": "{secret}/dev.csv"}}', "dev.csv": ROWS},
    "pictures": {"dev.parquet": pictures("/etc/hostname")},
    "video": {"dev.mp4": b"no film"},
    "gated": {"dev.csv": ROWS},
    "broken": {"broken.csv": ROWS},
}


REVISION = {"dev.csv": b"query,positive\none,eins\n"}  # of "honest", the revision v1
PROBE = """
import json, sys, time
time.sleep = lambda _: None  # between attempts
from helpers.data import load_dataset
from helpers.models.find import find_checkpoint
for name in sys.argv[1:]:
    try:
        is_model = name.startswith("model ")
        loaded = find_checkpoint(name.split()[1]).sha256 if is_model else load_dataset(f"owner/{name}").corpus
        print(json.dumps([name, loaded]))
    except (ValueError, ConnectionError) as error:
        print(json.dumps([name, f"{type(error).__name__}: {error}"]))
"""


Answers = dict[str, object]


def probe(names: Iterable[str], home: Path, endpoint: str, *, offline: bool = False) -> Answers:
    """Load every data set and model in a process of its own: what it gives, or says."""
    settings = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_OFFLINE": str(int(offline))}
    command = [sys.executable, "-c", PROBE, *names]
    run = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=180)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(line) for line in run.stdout.splitlines())


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Give what loading each data set gives or says, with the hub and then, as "name again", without.

    One of them has two revisions, there is a model too, and some would have a file elsewhere read.
    """
    root, home = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("home")
    repositories = {f"datasets/owner/{name}": files for name, files in REPOSITORIES.items()}
    for name, files in {**repositories, "datasets/owner/honest@v1": REVISION, "secret": {"dev.csv": SECRET}}.items():
        for file, content in files.items():
            put(root / name / file, content.replace(b"{secret}", str(root / "secret").encode()))
    one = {"corpus": [{"_id": "00", "text": "uno"}], "queries": [{"_id": "q0", "text": "one"}]}
    judged = [{"query-id": "q0", "corpus-id": "00", "score": 1.0}]
    mteb(root / "datasets" / "owner" / "mteb", judged="default", **one, qrels=judged)
    save_checkpoint(root / "models" / "owner" / "tiny")
    with local_hub(root) as hub:
        hub.gated = {"owner/gated"}
        hub.cut.update({"model.safetensors": 1, "rows.csv": 1, "broken.csv": 100})
        commit = hub.commit("datasets", "owner/honest", "v1")
        names = [*REPOSITORIES, "mteb", "honest@v1", f"honest@{commit}", "honest@v9", "nothing"]
        names += ["model owner/tiny", "model owner/nothing"]
        answers = probe(names, home, hub.endpoint)
        answers["commit"] = answers.pop(f"honest@{commit}")
        # The newest of the cache is now the revision v1, which is not what the plain name asks for.
        again = probe(names, home, hub.endpoint, offline=True)
    return answers | {f"{name} again": answer for name, answer in again.items()}


@pytest.mark.parametrize("name", ["honest", "named", "mteb", "honest again", "named again", "mteb again"])
def test_an_honest_data_set_loads_and_does_again_without_the_hub(answers: Answers, name: str):
    """A check too strict would refuse every data set of the hub, or an earlier download."""
    assert answers[name] == ["uno"]


@pytest.mark.parametrize("name", ["honest@v1", "commit", "honest@v1 again"])
def test_a_pinned_revision_is_the_one_that_loads(answers: Answers, name: str):
    """Without the hub ``datasets`` takes whatever was loaded last: scores on other texts, and no word of it."""
    assert answers[name] == ["eins"]


def test_a_model_whose_download_breaks_off_once_is_completed(answers: Answers, tmp_path: Path):
    """Half a file would be loaded, or every broken line would begin the download anew."""
    whole = read_checkpoint(save_checkpoint(tmp_path / "tiny")).sha256
    assert answers["model owner/tiny"] == answers["model owner/tiny again"] == whole


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("outside", "which is outside the folder"),
        ("yaml", "don't belong to owner/yaml"),
        ("labels", "names_file is not read"),
        ("infos", "names_file is not read"),
        ("pictures", "holds pictures"),
        ("pictures again", "holds pictures"),
        ("video", "of the kind|Cannot read"),
        ("honest@v9", "'owner/honest@v9': the hub has no such revision"),
        ("honest@v9 again", "no earlier download of it"),
        ("nothing", "the hub has none of this name"),
        ("model owner/nothing", "the model 'owner/nothing': the hub has none of this name"),
        ("gated", "set HF_TOKEN"),
        ("broken", "the download broke off"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(answers: Answers, name: str, message: str):
    """A reader would get forty lines of traceback for a name that is misspelt or a data set that is gated."""
    assert any(part in str(answers[name]) for part in message.split("|")), answers[name]
    assert "\n" not in str(answers[name])
    assert "the secret" not in str(answers[name])


def test_without_network_the_answer_comes_in_seconds(tmp_path: Path):
    """A learner behind a firewall must not wait through retries, and must learn what works without the hub."""
    closed = "http://127.0.0.1:9"  # the discard port: nothing listens there
    start = time.monotonic()
    answers = probe(["honest", "model owner/tiny"], tmp_path, closed)
    assert time.monotonic() - start < 60
    for name, default in (("honest", "'pocket-en'"), ("model owner/tiny", "'sentence-transformers/all-MiniLM-L6-v2'")):
        assert f"the hub at {closed} does not answer" in str(answers[name])
        assert f"Without a network use {default}, or a local folder" in str(answers[name])
        assert "HF_ENDPOINT" in str(answers[name])


def test_of_many_configurations_the_first_are_listed():
    """A data set with hundreds of languages would fill the screen."""
    names = [f"c{number}" for number in range(hub.SHOWN + 2)]
    with pytest.raises(ValueError, match=r"'c0', .*'c19' and 2 more\.$"):
        hub.choose_roles(names, "fr", "set")
