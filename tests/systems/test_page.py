"""Code of the page on the report's command that stands in for whole systems, run as it is printed."""

import io
import json
import re
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


def test_a_model_behind_an_address_embeds(monkeypatch):
    """A reader who copies the code would get vectors of other texts, or those of the first batch alone."""

    def answer(request):
        """Answer as OpenAI's embeddings do, the last text first: a text's length is its vector."""
        assert (request.full_url, request.headers["Authorization"]) == ("http://host/v1/embeddings", "Bearer secret")
        texts = json.loads(request.data)["input"]
        rows = [{"index": row, "embedding": [len(text), 1.0]} for row, text in enumerate(texts)]
        return io.BytesIO(json.dumps({"data": rows[::-1]}).encode())

    monkeypatch.setenv("EVAL_API_KEY", "secret")
    monkeypatch.setattr("urllib.request.urlopen", answer)
    names = {"np": np}
    exec(block("import json\nimport os\nimport urllib"), names)
    texts = ["x" * (n % 7) for n in range(205)]
    vectors = names["my_model"](texts, address="http://host/v1/embeddings")
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
