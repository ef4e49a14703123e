"""The dense model of the page "Ask the corpus": in 8 bits, computed by the page's own code, here in node."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site import dense
from docs.site.pocket import read_pocket
from docs.site.project import DocsError, Edition, read_yaml
from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.metrics import evaluate
from helpers.models import OFFLINE_DEFAULT, load_model
from helpers.models.find import BUNDLED
from helpers.systems import Fusion, Ranking, rank
from notebooks.kit.notebooks import ROOT
from tests.site.browser import Site

ODD = (
    "Café naïve—“x”",
    "ＡＢＣ 123…",
    "a\u200bb\tc\nd",
    "深圳 weather",
    "x" * 120,
    "É\u0301",
    "$5+3=8 `q`~",
    "İﬁ",
    "日 ㍿🙂",
)
RANK = """
import { DenseIndex, fuse } from "./encoder.js";
const { folder, texts, queries, matched } = JSON.parse(text), at = (name) => readFileSync(`${folder}/${name}`);
const buffer = (name) => new Uint8Array(at(name)).buffer, layout = JSON.parse(at("minilm.json"));
const index = new DenseIndex(layout, buffer("minilm.bin"), String(at("vocab.txt")), buffer("passages.bin"));
const found = queries.map((query) => index.search(query, 100)), cosines = found.map(([[, cosine]]) => cosine);
const nearest = found.map((ranking) => ranking.map(([passage]) => passage));
const tokens = texts.map((each) => index.tokenize(each));
const vectors = queries.slice(0, 9).map((query) => [...index.encode(query)]);
const scored = { tokens, vectors, nearest, cosines, fused: nearest.map((ranking, i) => fuse([ranking, matched[i]])) };
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the page downloads from."""
    folder = tmp_path_factory.mktemp("model")
    dense.add_model(ROOT, folder)
    return folder


def restored(files: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a model in 8 bits as the page reads them."""
    block, tensors = (files / dense.WEIGHTS).read_bytes(), {}
    for name, part in json.loads((files / dense.LAYOUT).read_text("utf-8")).items():
        rows = part["shape"][0]
        if "scales" not in part:
            tensors[name] = np.frombuffer(block, "<f4", rows, part["offset"])
            continue
        numbers = np.frombuffer(block, np.int8, rows * part["shape"][1], part["offset"]).reshape(part["shape"])
        tensors[name] = numbers * np.frombuffer(block, "<f4", rows, part["scales"])[:, None]
    return tensors


def passages() -> np.ndarray:
    """Return the vectors of the passages as the page reads them, (n, 384)."""
    data = (ROOT / "docs" / "site" / dense.PASSAGES).read_bytes()
    scales = np.frombuffer(data, "<f4", len(data) // 388)
    return np.frombuffer(data, np.int8, offset=4 * len(scales)).reshape(-1, 384) * scales[:, None]


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_the_page_ranks_as_the_model_in_8_bits_does(node: Any, files: Path, tmp_path: Path, share: int):
    """A reader's question would be answered by other tokens, vectors, rankings or fusions than MiniLM's."""
    data, model = load_dataset("pocket-en"), load_model(OFFLINE_DEFAULT)
    data = data.first(len(data.queries) // share)
    words = rank("BM25", data, 100)
    texts = [*data.queries, *ODD]
    matched = [[int(passage) for passage in row if passage >= 0] for row in words.ids]
    page = node(RANK, {"folder": str(files), "texts": texts, "queries": data.queries, "matched": matched})
    assert page["tokens"] == [model.tokenizer(text)["input_ids"] for text in texts]

    weights = {name: torch.tensor(np.array(tensor)) for name, tensor in restored(files).items()}
    assert set(model.network.load_state_dict(weights, strict=False).missing_keys) <= set(dense.UNUSED)
    model = replace(model, info=replace(model.info, name="MiniLM, 8 bits", sha256="8" * 64))
    vectors = encode(model, data.queries, kind="query", cache_dir=tmp_path)
    np.testing.assert_allclose(page["vectors"], vectors[:9], atol=2e-6)

    scores, nearest = vectors @ passages().T, np.array(page["nearest"])
    best = -np.sort(-scores, axis=1)[:, :100]
    np.testing.assert_allclose(np.take_along_axis(scores, nearest, axis=1), best, atol=3e-6)  # or two are this close
    np.testing.assert_allclose(page["cosines"], best[:, 0], atol=3e-6)
    fused = Fusion([Ranking(best, nearest), words]).rank(data, 10)
    assert page["fused"] == fused.ids.tolist()
    if share == 1:
        near = read_pocket(Edition(ROOT, "en")).near
        assert abs(sum(cosine >= near["least"] for cosine in page["cosines"]) - near["answered"]) <= 1
        score = evaluate(nearest[:, :10], data.qrels, "ndcg@10", relevance_level=data.relevance_level).mean["ndcg@10"]
        for language, text in {"en": "{:.3f} of nDCG@10", "zh": "nDCG@10都是{:.3f}"}.items():
            assert text.format(score) in (ROOT / "docs" / language / "ask.md").read_text("utf-8")


def test_the_model_in_8_bits_answers_the_suggested_questions(node: Any, files: Path):
    """A question that a page suggests would be answered by the recorded ranking, but not by the model once loaded."""
    suggested = read_yaml(ROOT / "docs" / "site" / "ask.yml")["en"]["suggested"]
    page = node(RANK, {"folder": str(files), "texts": [], "queries": [*suggested], "matched": [[] for _ in suggested]})
    ids = load_dataset("pocket-en").doc_ids
    assert [ids[ranking[0]] for ranking in page["nearest"]] == [*suggested.values()]


def test_the_vectors_of_the_passages_are_the_models():
    """The page would search vectors of texts that the collection no longer has."""
    vectors = encode(load_model(OFFLINE_DEFAULT), load_dataset("pocket-en").corpus)
    _, scales = dense.quantize(vectors)
    assert (np.abs(passages() - vectors) <= 0.51 * scales[:, None]).all(), "run python -m tests.site.rankings"


def test_weights_that_are_not_the_published_ones_stop_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The site would offer a model that nobody knows under MiniLM's name."""
    assert BUNDLED[OFFLINE_DEFAULT].weights_sha256 == dense.SHA256
    (tmp_path / "model.safetensors").write_bytes(b"another")
    monkeypatch.setattr(dense, "model_folder", lambda: tmp_path)
    dense.packed.cache_clear()
    with pytest.raises(DocsError, match="digest"):
        dense.model_size()
    monkeypatch.setattr(dense, "model_folder", lambda: None)
    assert dense.model_size() == 0
    dense.packed.cache_clear()


@pytest.mark.browser
def test_a_reader_downloads_the_model_and_asks_it(site: Site):
    """A dense system would answer without having been asked for, give other passages than Python, or block the page."""
    requests: list[str] = []
    site.page.on("request", lambda request: requests.append(request.url))
    site.open("en/ask.html")
    site.until("!!document.querySelector('.ask form')")
    site.page.fill(".ask input", "why is my bread not rising")
    site.page.press(".ask input", "Enter")
    site.until("document.querySelectorAll('.ask-lists li[data-id]').length > 0")
    assert not [url for url in requests if "minilm" in url], "downloaded before it was wanted"
    site.page.locator(".ask-lists li select").first.select_option("3")
    site.page.click(".ask-offer .main")
    site.until("document.querySelectorAll('.ask-lists > div:first-child li').length === 10")
    assert not site.page.locator(".ask-offer").is_visible()
    assert site.page.locator(".ask-scores b").count() > 0, "the reader's own grades are gone"

    def first(question: str, system: str) -> list[str]:
        site.page.evaluate("history.replaceState(null, '', '#')")  # so that the next one is waited for, if the same too
        site.page.fill(".ask input", question)
        site.page.press(".ask input", "Enter")
        site.page.locator(".ask-heads select").first.select_option(system)
        site.until("location.hash === '#q=' + encodeURIComponent(document.querySelector('.ask input').value)")
        return site.page.evaluate(
            "[...document.querySelectorAll('.ask-lists > div:first-child li')].map(li => li.dataset.id)"
        )

    data, model = load_dataset("pocket-en"), load_model(OFFLINE_DEFAULT)
    question = "how do planes find the shortest way over the pole"
    vector = encode(model, [question], kind="query")[0]
    nearest = [data.doc_ids[row] for row in np.argsort(-(passages() @ vector))[:2]]
    assert first(question, "MiniLM")[:2] == nearest  # the third is another without the rounding
    assert len(first(question, "fusion")) == 10
    words = read_yaml(ROOT / "docs" / "site" / "ask.yml")["en"]
    unlikely = words["unlikely"]
    said = lambda: site.page.locator(".ask > .tool-note").inner_text()  # noqa: E731
    assert said().startswith(words["read"]), "no verdict"
    assert "0." not in said(), "numbers before one asks why"
    site.page.click(".ask > .tool-note summary")
    assert str(read_pocket(Edition(ROOT, "en")).near["least"]) in said()
    first("who won the world cup", "MiniLM")
    assert said().startswith(unlikely), "a reader would take the passages for a bad answer"
    assert site.page.locator(".ask-near button:visible").count() == 0, "questions that have nothing in common with it"
    assert site.page.locator(".ask-lists > div:first-child li:visible").count() == 3, "poor passages at full weight"
    requests.clear()
    site.page.reload()
    site.until("document.querySelectorAll('.ask-lists > div:first-child li').length === 10")
    assert not [url for url in requests if "minilm.bin" in url], "downloaded twice"
    assert site.wrong == []
