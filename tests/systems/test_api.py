"""A model behind an address: a server of this machine that works, limits, fails, and answers nonsense."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from helpers.report import compare, main
from helpers.report.spec import from_text, from_toml
from helpers.systems import Api, rank
from tests.systems.samples import CORPUS, collection, write_collection

SECRET = "sk-very-secret"


def vector(text, dim=6):
    """Give a vector that belongs to a text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
    return np.random.default_rng(seed).standard_normal(dim).tolist()


class Endpoint:
    """A server whose next answers a test can choose: a status and a body, or None for a right one."""

    def __init__(self):
        """Start it at a free port."""
        self.calls, self.next, self.keys = [], [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.calls.append(body)
                outer.keys.append(self.headers.get("Authorization"))
                status, content, headers = (outer.next.pop(0) if outer.next else None) or (200, outer.right(body), {})
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                outer.keys.append(f"redirected {self.headers.get('Authorization')}")
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def right(body):
        """Give the right answer, its rows in another order."""
        rows = [{"index": n, "embedding": vector(t, body.get("dimensions", 6))} for n, t in enumerate(body["input"])]
        return {"data": rows[::-1], "usage": {"total_tokens": sum(len(t.split()) for t in body["input"])}}


@pytest.fixture
def endpoint(monkeypatch, tmp_path):
    """A running endpoint, a key, an empty cache, and no waiting."""
    monkeypatch.setenv("EVAL_API_KEY", SECRET)
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))
    waits = []
    monkeypatch.setattr("helpers.systems.api.time.sleep", waits.append)
    one = Endpoint()
    one.waits = waits
    yield one
    one.server.shutdown()
    one.server.server_close()


def test_ranking_is_by_the_cosine_of_the_vectors(endpoint):
    """Rows that come in another order would belong to other texts; instructions would go to the wrong side."""
    data = collection()
    system = Api(endpoint.address, "m", query_instruction="query: ", batch_size=5)
    with pytest.warns(UserWarning, match="tokens of each passage were billed for"):
        ranking = rank(system, data, 4)
    asked = [f"query: {query}" for query in data.queries]
    arrays = (np.array([vector(text) for text in texts]) for texts in (data.corpus, asked))
    passages, queries = (array / np.linalg.norm(array, axis=1, keepdims=True) for array in arrays)
    assert np.array_equal(ranking.ids, np.argsort(-(queries @ passages.T), axis=1)[:, :4])
    assert max(len(call["input"]) for call in endpoint.calls) == 5
    assert set(endpoint.keys) == {f"Bearer {SECRET}"}
    calls = len(endpoint.calls)
    rank(system, data, 4)  # no warning: pytest makes one an error
    assert len(endpoint.calls) == calls
    with pytest.warns(UserWarning, match="billed"):
        assert Api(endpoint.address, "m", dim=3).represent(["a"], "query").shape == (1, 3)


def test_a_busy_endpoint_is_asked_again(endpoint, monkeypatch):
    """An evaluation of hours would end at the first limit, or hammer a server that asks for a pause."""
    endpoint.next = [(429, {}, {"Retry-After": "7"}), (503, {}, {}), None]
    with pytest.warns(UserWarning, match="billed"):
        Api(endpoint.address, "m").represent(["a"], "query")
    assert endpoint.waits == [7.0, 2.0]
    free = rows([1.0]) | {"usage": {"total_tokens": None}}
    endpoint.next = [(408, {}, {}), (200, free, {})]
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # would see the key
    assert Api(endpoint.address, "m").represent(["c"], "query").tolist() == [[1.0]]
    endpoint.next = [(500, {}, {})] * 5
    with pytest.raises(ConnectionError, match="did not answer in 5 calls, the last: 500"):
        Api(endpoint.address, "m").represent(["b"], "query")
    with pytest.raises(ConnectionError, match=r"did not answer in 5 calls, the last: .*refused"):
        Api("http://127.0.0.1:9/v1", "m").represent(["b"], "query")


def test_a_slow_endpoint_is_given_up(endpoint, monkeypatch):
    """The run would hang for ever."""
    monkeypatch.setattr("helpers.systems.api.TIMEOUT", 0.2)
    monkeypatch.setattr(Endpoint, "right", staticmethod(lambda body: threading.Event().wait(1) or {}))
    with pytest.raises(ConnectionError, match="timed out"):
        Api(endpoint.address, "m").represent(["b"], "query")


def rows(*vectors):
    """Give an answer with these vectors."""
    return {"data": [{"index": n, "embedding": one} for n, one in enumerate(vectors)]}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, b"<html>", {}), "the answer is no JSON; is it the address of an API"),
        ((200, [], {}), "the answer has no 'data'"),
        ((200, {"error": "x"}, {}), "does not have a vector for each of 2 texts"),
        ((200, rows([1.0]), {}), "does not have a vector for each of 2 texts"),
        ((200, rows([1.0], [1.0], [1.0]), {}), "3 vectors of 1 dimensions, expected 2"),
        ((200, rows([1.0], [1.0, 2.0]), {}), "does not have a vector"),
        ((200, rows([1.0, 0.0], [float("nan"), 1.0]), {}), "is not finite, or all zeros"),
        ((200, rows([1.0, 0.0], [0.0, 0.0]), {}), "is not finite, or all zeros"),
        ((401, f"Incorrect key {SECRET}".encode(), {}), r"401 Incorrect key ….* The key is read from EVAL_API_KEY"),
        ((400, b"too long", {}), "refuses 'm': 400 too long"),
        ((400, b"x" * 195 + SECRET.encode(), {}), "400 x+….$"),
    ],
)
def test_a_wrong_answer_is_one_line_and_is_not_cached(endpoint, tmp_path, answer, message):
    """Vectors of other texts, or none, would be scored, and be found in the cache the next time."""
    endpoint.next = [answer]
    with pytest.raises(ValueError, match=message) as caught:
        Api(endpoint.address, "m").represent(["a", "b"], "passage")
    assert SECRET not in str(caught.value)
    assert not list((tmp_path / "cache").glob("*.npy"))


def test_a_redirect_does_not_carry_the_key_away(endpoint):
    """Whoever answers for the address would learn the key for another host."""
    endpoint.next = [(302, {}, {"Location": f"{endpoint.address}/elsewhere"})]
    with pytest.raises(ValueError, match="refuses 'm': 302"):
        Api(endpoint.address, "m").represent(["a"], "passage")
    assert not [key for key in endpoint.keys if key.startswith("redirected")]
    for wrong in ("http://example.org/v1", "ftp://localhost", "https://me:pw@example.org", "example.org/v1"):
        with pytest.raises(ValueError, match="expected an address such as https"):
            Api(wrong, "m")


def test_the_report_has_it_and_never_the_key(endpoint, tmp_path, monkeypatch, capsys):
    """The key would be on a page that is sent to others, or the price be missing."""
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path / "set")
    text = f"api:{endpoint.address}?model=m&price=20&dim=4"
    assert main(["--data", "set", "--system", text, "--out", "out", "--cutoffs", "2", "--latency", "2", "--quiet"]) == 0
    for file in [*(tmp_path / "out").iterdir(), *(tmp_path / "cache").iterdir()]:
        assert SECRET.encode() not in file.read_bytes()
    words = sum(len(text.split()) for text in CORPUS.values())
    assert f"{words} tokens of each passage were billed for: {words * 20 / 1e6:.4f}" in capsys.readouterr().err
    (tmp_path / "s.toml").write_text(f'[systems.far]\napi = "{endpoint.address}"\nmodel = "m"\n', encoding="utf-8")
    [spec] = from_toml(tmp_path / "s.toml")
    assert (spec.name, spec.kind, spec.where, spec.options) == ("far", "api", endpoint.address, {"model": "m"})
    with pytest.raises(ValueError, match=r"name the model at that address, \?model"):
        from_text("api:https://example.org/v1")
    with pytest.raises(ValueError, match="expected an address such as https"):
        compare([from_text("api:http://example.org/v1?model=m")], collection(), 1)
