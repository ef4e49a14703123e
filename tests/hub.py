"""A hub on this machine: as much of the Hugging Face hub's protocol as its clients use to read repositories."""

import hashlib
import http.server
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

REPOSITORY = re.compile(r"/(?:api/(?P<api>models|datasets)|(?P<files>datasets))?/?(?P<id>[^/]+/[^/]+)(?P<rest>/.*)?")


@dataclass
class LocalHub:
    """Serves the folders ``models/owner/name`` and ``datasets/owner/name`` below a root.

    A folder ``owner/name@v1`` is the revision ``v1``, under this name and under that of its commit.

    Attributes:
        root: where the folders are.
        endpoint: the address for ``HF_ENDPOINT``.
        gated: ids that are refused to readers without a token (401).
        cut: how many answers of a file of this name break off in the middle, counted down.
        fetched: the paths of files that were sent whole or in part.
    """

    root: Path
    endpoint: str = ""
    gated: set[str] = field(default_factory=set)
    cut: Counter[str] = field(default_factory=Counter)
    fetched: list[str] = field(default_factory=list)

    def commit(self, kind: str, repository: str, revision: str = "main") -> str:
        """Return the commit of a revision: a digest of the names and contents of its files."""
        folder = self.folder(kind, repository, revision)
        assert folder is not None
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        named = b"".join(str(path.relative_to(folder)).encode() + path.read_bytes() for path in files)
        return hashlib.sha1(named).hexdigest()

    def folder(self, kind: str, repository: str, revision: str) -> Path | None:
        """Find the files of a revision, by its name or its commit."""
        main = self.root / kind / repository
        for folder in sorted(main.parent.glob(f"{main.name}@*")) if main.parent.is_dir() else []:
            name = folder.name.rpartition("@")[2]
            if revision in (name, self.commit(kind, repository, name) if revision != name else name):
                return folder
        known = revision == "main" or (main.is_dir() and revision == self.commit(kind, repository))
        return main if known and main.is_dir() else None


@contextmanager
def local_hub(root: Path) -> Iterator[LocalHub]:
    """Serve what is below a root, for the length of a block."""
    hub = LocalHub(root)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LocalHub

    def do_GET(self) -> None:
        """Answer what a repository is, what is in it, and its files."""
        match = REPOSITORY.fullmatch(unquote(self.path.split("?")[0]))
        if match is None:
            return self._answer(b"{}", 200 if self.path == "/" else 404)
        repository, rest, kind = match["id"], match["rest"] or "", match["api"] or match["files"] or "models"
        if repository in self.hub.gated and "Authorization" not in self.headers:
            return self._answer(b"{}", 401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
        task, _, rest = rest.removeprefix("/").partition("/")
        revision, _, path = rest.partition("/")
        folder = self.hub.folder(kind, repository, revision or "main")
        if folder is None:
            missing = "RepoNotFound" if self.hub.folder(kind, repository, "main") is None else "RevisionNotFound"
            return self._answer(b"{}", 404, {"X-Error-Code": missing})
        commit = {"X-Repo-Commit": self.hub.commit(kind, repository, revision or "main")}
        if task == "resolve":
            return self._send_file(folder, path, commit)
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
        if task == "paths-info":
            wanted = self.rfile.read(int(self.headers["Content-Length"])).decode()
            files = {name: content for name, content in files.items() if name in unquote(wanted)}
        listed = [
            {"type": "file", "oid": hashlib.sha1(content).hexdigest(), "size": len(content), "path": name}
            for name, content in files.items()
            if name.startswith(f"{path}/" if path else "")
        ]
        info = {"id": repository, "sha": commit["X-Repo-Commit"], "siblings": [{"rfilename": name} for name in files]}
        self._answer(json.dumps(listed if task in ("tree", "paths-info") else info).encode(), 200, commit)

    do_HEAD = do_POST = do_GET

    def _send_file(self, folder: Path, path: str, commit: dict[str, str]) -> None:
        file = folder / path
        if not file.is_file():
            return self._answer(b"", 404, {"X-Error-Code": "EntryNotFound", **commit})
        content = file.read_bytes()
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', **commit}
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if start and int(start[1]):
            headers["Content-Range"] = f"bytes {start[1]}-{len(content) - 1}/{len(content)}"
            content = content[int(start[1]) :]
        if self.command == "GET":
            self.hub.fetched.append(self.path)
            if self.hub.cut[file.name] > 0:
                self.hub.cut[file.name] -= 1
                return self._answer(content, 206 if start else 200, headers, sent=len(content) // 2)
        self._answer(content, 206 if start else 200, headers)

    def _answer(self, body: bytes, status: int, headers: dict[str, str] | None = None, sent: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:sent])
        if sent is not None:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Keep quiet."""
