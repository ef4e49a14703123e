"""The dense models of the page "Ask the corpus", computed by the page's own code, here in node."""

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
from docs.site.pocket import SYSTEMS
from docs.site.project import DocsError, Edition, read_yaml
from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.metrics import evaluate
from helpers.models import load_model
from helpers.systems import Fusion, Ranking, rank
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.site.browser import Site
from tests.site.test_ask import ask

ODD = {
    "en": (
        "Café naïve—“x”", "ＡＢＣ 123…", "a\u200bb\tc\nd", "深圳 weather", "x" * 120, "É\u0301",
        "$5+3=8 `q`~", "İﬁ", "日 ㍿🙂",
    ),
    "zh": (
        "ＡＢＣ 123…", "手机\u200b为什么\t发烫\n？", "深圳 GPU", "１２３～５％", "“冰淇淋”——头疼！", "ﬁ ㎡ ①",
        "日 ㍿🙂🙂龘", "aaa",
    ),
}  # fmt: skip
ASKED = {  # two questions that the collection may answer
    "en": ("why is my bread not rising", "how do planes find the shortest way over the pole"),
    "zh": ("冰箱为什么会结霜", "面包为什么发不起来"),
}  # fmt: skip
RANK = """
import { DenseIndex } from "./ask/encoder.js";
import { fused } from "./try/metrics.js";
const { folder, texts, queries, matched, ids } = JSON.parse(text), at = (name) => readFileSync(`${folder}/${name}`);
const buffer = (name) => new Uint8Array(at(name)).buffer, layout = JSON.parse(at("model.json"));
const index = new DenseIndex(layout, buffer("model.bin"), String(at("vocabulary.txt")), buffer("passages.bin"));
const found = queries.map((query) => index.search(query, 100)), cosines = found.map(([[, cosine]]) => cosine);
const nearest = found.map((ranking) => ranking.map(([passage]) => passage));
const tokens = texts.map((each) => index.tokens.tokenize(each));
const vectors = queries.slice(0, 9).map((query) => [...index.encode(query)]);
const both = nearest.map((ranking, i) => fused([ranking, matched[i]], ids));
const scored = { tokens, vectors, nearest, cosines, fused: both };
"""


@pytest.fixture(scope="module", params=LANGUAGES)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a language's page, named as that, with what it downloads."""
    folder = tmp_path_factory.mktemp("model") / request.param
    folder.mkdir()
    dense.add_model(Edition(ROOT, request.param), folder)
    return folder


def restored(files: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a model in 8 bits as the page reads them."""
    block, tensors = (files / dense.WEIGHTS).read_bytes(), {}
    for name, part in json.loads((files / dense.LAYOUT).read_text("utf-8"))["tensors"].items():
        rows = part["shape"][0]
        if part["bits"] == 32:
            tensors[name] = np.frombuffer(block, "<f4", rows, part["offset"])
            continue
        numbers = np.frombuffer(block, np.int8, rows * part["shape"][1], part["offset"]).reshape(part["shape"])
        tensors[name] = numbers * np.frombuffer(block, "<f4", rows, part["scales"])[:, None]
    return tensors


def passages(language: str) -> np.ndarray:
    """Return the vectors of the passages as the page reads them, (n, 384)."""
    data = (ROOT / "docs" / "site" / dense.PASSAGES.format(language)).read_bytes()
    scales = np.frombuffer(data, "<f4", len(data) // 388)
    return np.frombuffer(data, np.int8, offset=4 * len(scales)).reshape(-1, 384) * scales[:, None]


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_the_page_ranks_as_its_model_does(node: Any, files: Path, tmp_path: Path, share: int):
    """A reader's question would be answered by other tokens, vectors, rankings or fusions than the model's."""
    language = files.name
    data, model = load_dataset(f"pocket-{language}"), load_model(dense.MODELS[language])
    asked = data.queries
    data = data.first(len(data.queries) // share)
    words = rank("BM25", data, 100)
    texts = [*asked, *ODD[language]]
    matched = [[int(passage) for passage in row if passage >= 0] for row in words.ids]
    page = node(
        RANK, {"folder": str(files), "texts": texts, "queries": data.queries, "matched": matched, "ids": data.doc_ids}
    )
    vocabulary = [line.split("\t")[0] for line in (files / dense.VOCABULARY).read_text("utf-8").split("\n")]
    prefix = model.info.query_instruction
    assert [[vocabulary[token] for token in tokens] for tokens in page["tokens"]] == [
        model.tokenizer.convert_ids_to_tokens(model.tokenizer(prefix + text)["input_ids"]) for text in texts
    ]

    if language == "en":  # the other has its own weights
        weights = {name: torch.tensor(np.array(tensor)) for name, tensor in restored(files).items()}
        assert set(model.network.load_state_dict(weights, strict=False).missing_keys) <= set(dense.UNUSED)
        model = replace(model, info=replace(model.info, name="MiniLM, 8 bits", sha256="8" * 64))
    vectors = encode(model, data.queries, kind="query", cache_dir=tmp_path)
    np.testing.assert_allclose(page["vectors"], vectors[:9], atol=2e-6)

    scores, nearest = vectors @ passages(language).T, np.array(page["nearest"])
    best = -np.sort(-scores, axis=1)[:, :100]
    np.testing.assert_allclose(np.take_along_axis(scores, nearest, axis=1), best, atol=3e-6)  # or two are this close
    np.testing.assert_allclose(page["cosines"], best[:, 0], atol=3e-6)
    fused = Fusion([Ranking(best, nearest), words]).rank(data, 10)
    assert page["fused"] == fused.ids.tolist()
    if share == 1:
        score = evaluate(nearest[:, :10], data.qrels, "ndcg@10", relevance_level=data.relevance_level).mean["ndcg@10"]
        assert f"{score:.3f}" in (ROOT / "docs" / language / "ask.md").read_text("utf-8")


def test_the_model_of_the_page_answers_the_suggested_questions(node: Any, files: Path):
    """A question that a page suggests would be answered by the recorded ranking, but not by the model once loaded."""
    suggested = read_yaml(ROOT / "docs" / "site" / "ask.yml")[files.name]["suggested"]
    ids = load_dataset(f"pocket-{files.name}").doc_ids
    asked = {"texts": [], "queries": [*suggested], "matched": [[] for _ in suggested], "ids": ids}
    page = node(RANK, {"folder": str(files), **asked})
    assert [ids[ranking[0]] for ranking in page["nearest"]] == [*suggested.values()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_vectors_of_the_passages_are_the_models(language: str):
    """The page would search vectors of texts that the collection no longer has."""
    vectors = encode(load_model(dense.MODELS[language]), load_dataset(f"pocket-{language}").corpus)
    _, scales = dense.quantize(vectors)
    assert (np.abs(passages(language) - vectors) <= 0.51 * scales[:, None]).all(), "run python -m tests.site.rankings"


@pytest.mark.parametrize(("language", "name"), {"en": "model.safetensors", "zh": "e5-small-q4.bin"}.items())
def test_weights_that_are_not_the_published_ones_stop_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, name: str
):
    """The site would offer a model that nobody knows under the model's name."""
    (tmp_path / name).write_bytes(b"another")
    monkeypatch.setattr(dense, "bundled_path", lambda _: tmp_path if language == "en" else tmp_path / name)
    dense.packed.cache_clear()
    with pytest.raises(DocsError, match="not the published file"):
        dense.model_size(Edition(ROOT, language))
    monkeypatch.setattr(dense, "bundled_path", lambda _: None)
    assert dense.model_size(Edition(ROOT, language)) == 0
    dense.packed.cache_clear()


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reader_downloads_the_model_and_asks_it(site: Site, language: str):
    """A dense system would answer without having been asked for, give other passages than Python, or block the page."""
    requests: list[str] = []
    site.page.on("request", lambda request: requests.append(request.url))
    before, question = ASKED[language]
    ask(site, language, before)
    site.until("document.querySelectorAll('.ask-result.mine li[data-id]').length > 0")
    assert not [url for url in requests if "model.bin" in url], "downloaded before it was wanted"
    site.page.locator(".ask-lists li select").first.select_option("3")
    site.page.click(".ask-offer .main")
    site.until("!document.querySelector('.ask-offer')")
    assert site.page.locator(".ask-lists > div:first-child li").count() == 10
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

    data, model = load_dataset(f"pocket-{language}"), load_model(dense.MODELS[language])
    vector = encode(model, [question], kind="query")[0]
    nearest = [data.doc_ids[row] for row in np.argsort(-(passages(language) @ vector))[:2]]
    system = SYSTEMS[language]["dense"]
    assert first(question, system)[:2] == nearest  # the third is another without the rounding
    if language == "en":
        assert len(first(question, "fusion")) == 10
    words = read_yaml(ROOT / "docs" / "site" / "ask.yml")[language]
    assert words["read"] in site.page.locator(".ask > .tool-note").inner_text(), "no verdict"
    requests.clear()
    site.page.reload()
    site.until("document.querySelectorAll('.ask-lists > div:first-child li').length === 10")
    assert not [url for url in requests if "model.bin" in url], "downloaded twice"
    assert site.wrong == []
