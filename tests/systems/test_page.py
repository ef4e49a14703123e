"""Code of the page on the report's command that stands in for whole systems, run as it is printed."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SparseEncoder

from helpers.data.trec import read_run
from tests.checkpoints import CONFIGS, save_tokenizer
from tests.systems.samples import collection

PAGE = Path(__file__).parents[2] / "docs" / "en" / "own_model.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def block(start):
    """Return the block of code that begins so."""
    [code] = [text for text in BLOCKS if text.startswith(start)]
    return code


class Endpoint(BaseHTTPRequestHandler):
    """Answer as OpenAI's embeddings do, the last text first: a text's length is its vector."""

    def do_POST(self):  # noqa: D102
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = [{"index": row, "embedding": [len(text), 1.0]} for row, text in enumerate(texts)][::-1]
        content = json.dumps({"data": rows}).encode()
        self.send_response(200 if self.headers["Authorization"] == "Bearer secret" else 401)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):  # noqa: D102
        pass


def test_a_model_behind_an_address_embeds(monkeypatch):
    """A reader who copies the code would get vectors of other texts, or those of the first batch alone."""
    monkeypatch.setenv("EVAL_API_KEY", "secret")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names = {"np": np}
    exec(block("import json\nimport os\nimport urllib"), names)
    texts = ["x" * (n % 7) for n in range(205)]
    vectors = names["my_model"](texts, address=f"http://127.0.0.1:{server.server_address[1]}/v1/embeddings")
    server.shutdown()
    server.server_close()
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[len(text), 1.0] for text in texts]


def test_a_sparse_encoder_writes_a_run(tmp_path, monkeypatch):
    """A reader who copies the code would get an error, or a run in another order than the encoder's scores."""
    transformers.set_seed(5)
    network = transformers.BertForMaskedLM(transformers.BertConfig(**CONFIGS["bert"].to_dict()))
    with torch.no_grad():
        network.cls.predictions.bias.normal_(-0.2, 0.3)  # most weights become 0, as training makes them
    network.save_pretrained(tmp_path / "naver" / "splade-v3")
    save_tokenizer(tmp_path / "naver" / "splade-v3")
    monkeypatch.chdir(tmp_path)
    data = collection()
    exec(block("from sentence_transformers import SparseEncoder"), {"data": data})
    encoder = SparseEncoder("naver/splade-v3")
    scores = encoder.similarity(encoder.encode_query(data.queries), encoder.encode_document(data.corpus)).numpy()
    run = read_run(Path("splade.trec"))
    assert list(run) == data.query_ids
    for query, row in zip(data.query_ids, scores, strict=True):
        best = max(run[query], key=run[query].get)
        assert row[data.corpus_ids.index(best)] == pytest.approx(row.max())
