"""Models of today: last-token pooling, dense layers, shorter vectors; each as sentence-transformers runs it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import CrossEncoder, SentenceTransformer

from helpers.embeddings import encode
from helpers.embeddings.encoding import recipe_of
from helpers.models import load_model
from helpers.models.files import read_checkpoint
from helpers.models.transformer import require_head
from tests.checkpoints import add_layers, change, save_checkpoint
from tests.systems.samples import write_reranker

pytestmark = pytest.mark.usefixtures("empty_cache")

PASSAGES = ["the cat", "a dog is not a fish , good house", "bread", "apple of the house . not the dog"]
QUERIES = ["cat is good", "the"]
INSTRUCTION = "the good \nof :"
LAYERS = {
    "none": [],
    "normalized": [("Normalize", {})],
    "dense": [("Dense", {"out_features": 8, "activation_function": "torch.nn.modules.activation.Tanh"})],
    "two": [
        ("Dense", {"out_features": 32, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"}),
        ("Normalize", {}),
        ("Dense", {"out_features": 8, "activation_function": "torch.nn.modules.activation.GELU"}),
    ],
    "residual": [("Dense", {"out_features": 8, "use_residual": True})],
}


def save(folder: Path, architecture: str, pooling: str, layers: str = "none", **options) -> Path:
    """Save a checkpoint with all the files of sentence-transformers."""
    save_checkpoint(folder, architecture, pooling=pooling, **options)
    add_layers(folder, LAYERS[layers])
    prompts = {"prompts": {"query": INSTRUCTION, "document": ""}, "similarity_fn_name": "cosine"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    return folder


def agree(folder: Path, **options) -> None:
    """See that a folder gives the vectors that sentence-transformers gives."""
    ours = load_model(folder, device="cpu", **options)
    theirs = SentenceTransformer(str(folder), device="cpu", truncate_dim=options.get("dim"))
    for texts, kind, name in ((PASSAGES, "passage", "document"), (QUERIES, "query", "query")):
        expected = theirs.encode(texts, prompt_name=name, normalize_embeddings=True)
        computed = encode(ours, texts, kind=kind, batch_size=2)
        assert computed.shape == expected.shape
        np.testing.assert_allclose(computed, expected, atol=1e-5)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max", "lasttoken"])
@pytest.mark.parametrize("architecture", ["bert", "roberta", "mpnet"])
def test_encoders_are_run_as_sentence_transformers_runs_them(tmp_path, architecture, pooling):
    """The published scores of a model could not be reproduced."""
    agree(save(tmp_path / "tiny", architecture, pooling))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("architecture", ["qwen2", "qwen3", "qwen2 both ways", "gpt2"])
def test_decoders_are_pooled_by_their_last_token(tmp_path, architecture, side):
    """Padding on the left would be taken for text, and on the right for the last token."""
    folder = save(tmp_path / "tiny", architecture, "lasttoken", padding_side=side)
    if (architecture, side) != ("gpt2", "left"):  # sentence-transformers counts padding as positions there
        agree(folder)
    model = load_model(folder, device="cpu")
    alone = np.concatenate([encode(model, [text], batch_size=1) for text in PASSAGES])
    np.testing.assert_allclose(encode(model, PASSAGES, batch_size=4), alone, atol=1e-5)
    assert load_model(folder).info.query_instruction == INSTRUCTION
    assert load_model(folder).info.pooling == "lasttoken"


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("architecture", ["bert", "qwen3"])
def test_layers_behind_the_pooling_count(tmp_path, architecture, layers):
    """Without its dense layer a model ranks otherwise than its authors measured."""
    agree(save(tmp_path / "tiny", architecture, "mean" if architecture == "bert" else "lasttoken", layers))


def test_dense_weights_of_the_older_format_are_read(tmp_path):
    """LaBSE and others have only pytorch_model.bin there."""
    folder = save(tmp_path / "tiny", "bert", "mean", "dense")
    new = folder / "2_Dense" / "model.safetensors"
    torch.save(load_file(new), folder / "2_Dense" / "pytorch_model.bin")
    new.unlink()
    agree(folder)


@pytest.mark.parametrize(("architecture", "layers"), [("bert", "none"), ("qwen3", "none"), ("bert", "dense")])
def test_shorter_vectors_are_those_of_sentence_transformers(tmp_path, architecture, layers):
    """Cut after the scaling, vectors have other lengths, and their inner product is no cosine."""
    folder = save(tmp_path / "tiny", architecture, "mean" if architecture == "bert" else "lasttoken", layers)
    agree(folder, dim=5)
    short, whole = (encode(load_model(folder, dim=dim, device="cpu"), PASSAGES) for dim in (5, None))
    cut = whole[:, :5] / np.linalg.norm(whole[:, :5], axis=1, keepdims=True)
    np.testing.assert_allclose(short, cut, atol=1e-6)
    assert load_model(folder, dim=5).info.dim == 5


@pytest.mark.parametrize("dim", [0, -1, 9, 17])
def test_a_length_that_no_vector_has_is_refused(tmp_path, dim):
    """Slicing takes any number and gives something."""
    with pytest.raises(ValueError, match=rf"dim={dim}: tiny has vectors of 8 dimensions"):
        load_model(save(tmp_path / "tiny", "bert", "mean", "dense"), dim=dim)


def test_the_end_token_is_put_where_own_code_would(tmp_path):
    """gte-Qwen2 is pooled at a token that its own code, which is not run, puts behind each text."""
    plain = save(tmp_path / "plain", "qwen2", "lasttoken", bare=True)
    marked = save(tmp_path / "marked", "qwen2", "lasttoken", bare=True, eos_token="[SEP]")
    change(marked / "tokenizer_config.json", add_eos_token=True)
    one, other = load_model(plain, device="cpu"), load_model(marked, device="cpu", max_length=4)
    ids, ended = (model.tokenizer(["cat dog", "the"])["input_ids"] for model in (one, other))
    assert ended == [[*text, other.tokenizer.eos_token_id] for text in ids]
    cut = other.tokenizer("a b c a b c", truncation=True, max_length=4)["input_ids"]
    assert len(cut) == 4
    assert cut[-1] == other.tokenizer.eos_token_id
    assert not np.allclose(encode(one, ["cat dog"]), encode(other, ["cat dog"]), atol=1e-3)


def test_a_decoder_whose_own_code_may_see_both_ways_is_refused(tmp_path):
    """gte-Qwen2's code lets tokens see both ways; transformers' own Qwen2 gives it quite other vectors."""
    folder = save(tmp_path / "tiny", "qwen2", "lasttoken")
    change(folder / "config.json", auto_map={"AutoModel": "modeling_qwen.Qwen2Model"})
    with pytest.raises(ValueError, match=r'tiny brings code of its own, which is never run.*"is_causal": false'):
        load_model(folder)
    change(folder / "config.json", is_causal=True)
    causal = encode(load_model(folder, device="cpu"), PASSAGES)
    change(folder / "config.json", is_causal=False)
    both = encode(load_model(folder, device="cpu"), PASSAGES)
    assert not np.allclose(causal, both, atol=1e-3)


def test_a_decoder_under_another_pooling_is_refused(tmp_path):
    """The first token of a decoder has seen nothing, and a mean of its tokens was not what it was trained with."""
    folder = save(tmp_path / "tiny", "qwen3", "max")
    with pytest.raises(ValueError, match=r"tiny \(qwen3\) is not a text encoder.*pooling='lasttoken'"):
        load_model(folder)
    assert load_model(folder, pooling="lasttoken").info.pooling == "lasttoken"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"activation_function": "os.system"}, "2_Dense: no activation 'os.system' here; it has Tanh"),
        ({"activation_function": "torch.hub.load"}, "2_Dense: no activation 'torch.hub.load'"),
        ({"activation_function": "evil.Tanh"}, "2_Dense: no activation 'evil.Tanh'"),
        ({"module_input_name": "token_embeddings"}, "2_Dense: module_input_name is 'token_embeddings'"),
        ({"out_features": 9}, "2_Dense: its weights do not fit its config.json"),
        ({"in_features": "x"}, "2_Dense: its weights do not fit its config.json"),
    ],
)
def test_a_dense_layer_that_is_not_understood_is_refused(tmp_path, config, message):
    """A name in a downloaded file must not be called, and half a layer must not be left out."""
    folder = save(tmp_path / "tiny", "bert", "mean", "dense")
    change(folder / "2_Dense" / "config.json", **config)
    with pytest.raises(ValueError, match=message) as error:
        load_model(folder)
    assert "\n" not in str(error.value)


def test_layers_of_other_kinds_and_places_are_refused(tmp_path):
    """A layer left out, or read from somewhere else, gives scores of no model."""
    folder = save(tmp_path / "tiny", "bert", "mean", "dense")
    modules = json.loads((folder / "modules.json").read_text())
    other = [*modules[:2], {**modules[2], "path": "../elsewhere"}]
    (folder / "modules.json").write_text(json.dumps(other))
    with pytest.raises(ValueError, match=r"'\.\./elsewhere' of its modules\.json is no folder of the model"):
        load_model(folder)
    for row, kind in ((2, "sentence_transformers.models.LSTM"), (0, "custom_st.Transformer"), (1, "mine.Pooling")):
        changed = [{**module, "type": kind} if module["idx"] == row else module for module in modules]
        (folder / "modules.json").write_text(json.dumps(changed))
        named = kind.removeprefix("sentence_transformers.models.")
        with pytest.raises(ValueError, match=rf"a further layer \({named}\) that is not understood here"):
            load_model(folder)
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="2_Dense holds no weights"):
        load_model(folder)


def test_an_instruction_left_out_of_the_pooling_is_refused(tmp_path):
    """INSTRUCTOR pools only what stands behind the instruction; with it in, its vectors are others."""
    folder = save(tmp_path / "tiny", "bert", "mean")
    change(folder / "1_Pooling" / "config.json", include_prompt=False)
    with pytest.raises(ValueError, match="leaves the instruction's tokens out of its pooling"):
        load_model(folder)
    assert load_model(folder, query_instruction="").info.pooling == "mean"


def as_theirs(folder: Path, texts: list[str]) -> None:
    """See that both kinds of text get the vectors of sentence-transformers' own two calls."""
    ours, theirs = load_model(folder, device="cpu"), SentenceTransformer(str(folder), device="cpu")
    for kind, call in (("query", theirs.encode_query), ("passage", theirs.encode_document)):
        np.testing.assert_allclose(encode(ours, texts, kind=kind), call(texts, normalize_embeddings=True), atol=1e-5)


def test_texts_are_lowercased_where_the_files_say_so(tmp_path):
    """A cased tokenizer would meet capitals that the model never saw; and the cache give the vectors of before."""
    folder, name = save(tmp_path / "cased", "bert", "mean"), "sentence_bert_config.json"
    (folder / name).write_text('{"max_seq_length": 64, "do_lower_case": true}')
    as_theirs(folder, ["The CAT is Good", "a dog", "BREAD"])
    model = load_model(folder, device="cpu")
    lowered, plain = (recipe_of(replace(model, info=replace(model.info, lower_case=is_lowered)), "query", 8)
                      for is_lowered in (True, None))  # fmt: skip
    assert model.info.lower_case
    assert lowered.shard_name(["a"]) != plain.shard_name(["a"])
    with pytest.raises(ValueError, match=r"cased lowercases texts.*which FlagModel does not"):
        load_model(folder, backend="FlagEmbedding")
    change(folder / "tokenizer_config.json", do_lower_case=True)
    words = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**words, "normalizer": {"type": "Lowercase"}}))
    assert load_model(folder, device="cpu").info.lower_case is None
    assert load_model(folder, backend="FlagEmbedding", device="cpu")


@pytest.mark.parametrize("network", ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"])
def test_the_length_is_read_from_the_file_of_any_network(tmp_path, network):
    """Texts would be read to the end whose end the authors cut off."""
    folder = save(tmp_path / "tiny", "bert", "mean")
    (folder / f"sentence_{network}_config.json").write_text('{"max_seq_length": 6}')
    assert load_model(folder, device="cpu").info.max_length == 6
    with pytest.warns(UserWarning, match="longer than the 6 tokens"):
        as_theirs(folder, PASSAGES)


@pytest.mark.parametrize(
    "lengths", [{"query_length": 4}, {"document_length": 5}, {"query_length": 5, "document_length": 4}]
)
def test_queries_and_passages_have_lengths_of_their_own(tmp_path, lengths):
    """sentence-transformers 6 writes them, and a longer query is another query."""
    folder = save(tmp_path / "tiny", "bert", "mean")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9, **lengths}))
    as_theirs(folder, PASSAGES)
    assert load_model(folder, device="cpu", max_length=7).info.length("query") == 7


def test_the_pooling_is_read_from_the_folder_that_the_files_name(tmp_path):
    """Another pooling, or none, would be found in 1_Pooling."""
    folder = save(tmp_path / "tiny", "bert", "cls")
    (folder / "1_Pooling").rename(folder / "pool")
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([modules[0], {**modules[1], "path": "pool"}]))
    assert load_model(folder, device="cpu").info.pooling == "cls"
    as_theirs(folder, PASSAGES)
    (folder / "modules.json").write_text(json.dumps([modules[0], {**modules[1], "path": "../pool"}]))
    with pytest.raises(ValueError, match=r"names \['\.\./pool'\] as its pooling; expected one folder of the model"):
        load_model(folder)


def test_the_encoder_of_t5_is_run_alone(tmp_path):
    """Sentence-T5 and GTR lack a decoder, and would be told that they lack weights."""
    folder = save_checkpoint(tmp_path / "gtr", "t5 encoder")
    add_layers(folder, LAYERS["dense"])
    agree(folder)


@pytest.mark.parametrize("by", ["transformers", "sentence-transformers"])
@pytest.mark.parametrize("pooling", [None, "cls"])
def test_a_reranker_is_no_embedding_model(tmp_path, by, pooling):
    """The message said to name a pooling, and then scores came that mean nothing."""
    folder = write_reranker(tmp_path / "ce")
    if by == "sentence-transformers":
        CrossEncoder(str(folder), device="cpu").save_pretrained(str(tmp_path / "theirs" / "ce"))
        folder = tmp_path / "theirs" / "ce"
    with pytest.raises(ValueError, match=r"ce is a reranker \(BertForSequenceClassification\).* and by = "):
        load_model(folder, pooling=pooling)
    require_head(read_checkpoint(folder))  # what the message says to do with it


def test_a_reranker_needs_its_head(tmp_path):
    """transformers invents the missing weights, with a warning that nobody sees: other scores each time."""
    embedding = save(tmp_path / "bge", "bert", "cls")
    change(embedding / "config.json", id2label={"0": "LABEL_0"}, label2id={"LABEL_0": 0})
    decoder = save_checkpoint(tmp_path / "yes-or-no", "qwen2", pooling=None)
    for folder in (embedding, decoder):
        with pytest.raises(ValueError, match=f"{folder.name} is no reranker: it has no weights '(classifier|score)"):
            require_head(read_checkpoint(folder))
    assert load_model(embedding, device="cpu").info.pooling == "cls"  # a system of its own, as the message says
    with pytest.raises(ValueError, match="two gives 2 scores a pair"):
        require_head(read_checkpoint(write_reranker(tmp_path / "two", labels=2)))


def _begins_with(kind: str) -> Callable[[Path], str]:
    def put(folder: Path) -> str:
        (folder / f"0_{kind}").mkdir()
        (folder / "config.json").rename(folder / f"0_{kind}" / "config.json")
        module = {"path": f"0_{kind}", "type": f"sentence_transformers.models.{kind}"}
        (folder / "modules.json").write_text(json.dumps([module]))
        return f"is a {kind} of"

    return put


def _weights_as(name: str, content: bytes) -> Callable[[Path], str]:
    def put(folder: Path) -> str:
        (folder / "model.safetensors").unlink()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        return {".gguf": "weights for llama.cpp", ".onnx": "weights for ONNX Runtime"}.get(Path(name).suffix, "Git LFS")

    return put


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12345\n"
OTHER_KINDS = {
    **{kind: _begins_with(kind) for kind in ("StaticEmbedding", "WordEmbeddings", "CLIPModel")},
    "gguf": _weights_as("model.gguf", b"GGUF"),
    "onnx": _weights_as("onnx/model.onnx", b"x"),
    "pointer": _weights_as("model.safetensors", POINTER),
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_a_folder_of_another_kind_is_called_what_it_is(tmp_path, kind):
    """The message said to save config.json or weights beside the others, which helps in none of these cases."""
    folder = save(tmp_path / "tiny", "bert", "mean")
    with pytest.raises(
        ValueError, match=f"'tiny' (has a|holds)? ?{OTHER_KINDS[kind](folder)}.*(load those|git lfs pull)"
    ):
        load_model(folder)


def test_a_network_in_a_folder_of_its_own_is_saved_again_as_advised(tmp_path):
    """sentence-transformers wrote 0_Transformer until its second version."""
    folder = save(tmp_path / "old", "bert", "mean")
    (folder / "0_Transformer").mkdir()
    for path in [path for path in folder.iterdir() if path.is_file() and path.name != "modules.json"]:
        path.rename(folder / "0_Transformer" / path.name)
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([{**modules[0], "path": "0_Transformer"}, *modules[1:]]))
    with pytest.raises(
        ValueError, match=r"network in the folder '0_Transformer'.*SentenceTransformer\(folder\)\.save_p"
    ):
        load_model(folder)
    SentenceTransformer(str(folder), device="cpu").save_pretrained(str(tmp_path / "another"))
    as_theirs(tmp_path / "another", PASSAGES)
