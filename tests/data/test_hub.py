"""Data sets of the hub, served by a hub of our own: honest ones load, others are refused as folders are."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.data import hub

COMMIT = "a" * 40
ROWS = b"query,positive\none,uno\n"


def pictures() -> bytes:
    """Return a table whose column of positives is said to hold pictures."""
    features = {"query": {"dtype": "string", "_type": "Value"}, "positive": {"_type": "Image"}}
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    table = pa.table([pa.array(["one"]), pa.array([{"bytes": None, "path": "/etc/hostname"}], kind)], [*features])
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})}), file)
    return file.getvalue()


def card(entry: str) -> bytes:
    """Return a README with an entry of its first configuration."""
    return f"---\nconfigs:\n- config_name: default\n  {entry}\n---\n".encode()


def configured(**files: str) -> bytes:
    """Return a README with a configuration for each file, of the split ``test``."""
    entries = "".join(
        f"- config_name: {name}\n  data_files: [{{split: test, path: {path}}}]\n" for name, path in files.items()
    )
    return f"---\nconfigs:\n{entries}---\n".encode()


BY_ID = {
    "corpus.jsonl": b'{"_id": "00", "title": "", "text": "uno"}\n',
    "queries.jsonl": b'{"_id": "q0", "text": "one"}\n',
    "qrels.jsonl": b'{"query-id": "q0", "corpus-id": "00", "score": 1.0}\n',
}
TEXTS = {"corpus": "corpus.jsonl", "queries": "queries.jsonl"}
REPOSITORIES = {
    "mteb": {"README.md": configured(default="qrels.jsonl", **TEXTS), **BY_ID},
    "outside": {"README.md": configured(default="qrels.jsonl", queries="queries.jsonl", corpus="../other/c.jsonl")},
    "honest": {"README.md": b"# A data set", "dev.csv": ROWS},
    "named": {"README.md": card("data_files: [{split: dev, path: rows.csv}]"), "rows.csv": ROWS},
    "labels": {"README.md": card('features: [{dtype: {class_label: {"names\\x5ffile": {secret}/dev.csv}}}]')},
    "yaml": {".huggingface.yaml": b"configs: [{config_name: a, data_files: {secret}/dev.csv}]", "dev.csv": ROWS},
    "pictures": {"dev.parquet": pictures()},
    "video": {"dev.mp4": b"no film"},
}


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of the hub as a download of small files asks for."""

    secret = ""

    def do_GET(self) -> None:
        """Answer what a repository is, what is in it, and its files."""
        path = self.path.split("?")[0]
        name = next((name for name in REPOSITORIES if f"datasets/owner/{name}" in path), None)
        files = {k: v.replace(b"{secret}", self.secret.encode()) for k, v in REPOSITORIES.get(name or "", {}).items()}
        if name is None:
            self.answer(b"{}", 200 if path == "/" else 404)
        elif "/resolve/" in path:
            file = path.split("/", 6)[6]
            self.answer(files.get(file, b""), 200 if file in files else 404)
        elif "/tree/" in path:
            digests = {file: hashlib.sha1(content).hexdigest() for file, content in files.items()}
            listed = [{"type": "file", "oid": digests[f], "size": len(files[f]), "path": f} for f in files]
            self.answer(json.dumps(listed).encode())
        else:
            siblings = [{"rfilename": file} for file in files]
            self.answer(json.dumps({"id": f"owner/{name}", "sha": COMMIT, "siblings": siblings}).encode())

    do_HEAD = do_GET

    def answer(self, body: bytes, status: int = 200) -> None:
        """Send an answer, to HEAD without its body."""
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


PROBE = """
import json, sys
from helpers.data import load_dataset
for name in sys.argv[1:]:
    try:
        print(json.dumps([name, load_dataset(f"owner/{name}").corpus]))
    except (ValueError, ConnectionError) as error:
        print(json.dumps([name, f"{type(error).__name__}: {error}"]))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder in which downloads are kept."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def answers(home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Give what loading each data set gives or says, with the hub and then, as "name again", without."""
    secret = tmp_path_factory.mktemp("secret")
    (secret / "dev.csv").write_text("query,positive\nthe secret,the secret\n")
    Hub.secret = str(secret)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
    answers = probe(settings)
    server.shutdown()
    server.server_close()
    answers |= {f"{name} again": answer for name, answer in probe(settings | {"HF_HUB_OFFLINE": "1"}).items()}
    return answers


def probe(settings: dict[str, str]) -> dict[str, object]:
    """Load every data set in a process of its own."""
    command = [sys.executable, "-c", PROBE, *REPOSITORIES]
    run = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(line) for line in run.stdout.splitlines())


@pytest.mark.parametrize("name", ["honest", "named", "mteb", "honest again", "named again", "mteb again"])
def test_an_honest_data_set_loads_and_does_again_without_the_hub(answers: dict[str, object], name: str):
    """A check too strict would refuse every data set of the hub, or what is left of an earlier download."""
    assert answers[name] == ["uno"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("outside", "which is outside the folder"),
        ("yaml", "which is outside the folder"),
        ("labels", "names_file is not read"),
        ("pictures", "holds pictures"),
        ("pictures again", "holds pictures"),
        ("video", "of the kind|Cannot read"),
    ],
)
def test_a_data_set_of_the_hub_reads_its_own_texts_alone(answers: dict[str, object], name: str, message: str):
    """Its card would have files of the reader's machine read, as the card of a folder would."""
    assert any(part in str(answers[name]) for part in message.split("|")), answers[name]
    assert "the secret" not in str(answers[name])


def test_of_many_configurations_the_first_are_listed():
    """A data set with hundreds of languages would fill the screen."""
    names = [f"c{number}" for number in range(hub.SHOWN + 2)]
    with pytest.raises(ValueError, match=r"'c0', .*'c19' and 2 more\.$"):
        hub.choose_roles(names, "fr", "set")
