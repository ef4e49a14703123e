"""Models of today: last-token pooling, dense layers, shorter vectors; each as sentence-transformers runs it."""

import json
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
from helpers.models.card import LENGTHS, read_card
from helpers.models.find import read_checkpoint
from helpers.models.transformer import require_head
from tests.checkpoints import add_layers, change, save_checkpoint
from tests.systems.samples import write_reranker

PASSAGES = ["The CAT", "a dog is not a fish , good house", "bread", "apple of the house . not the dog"]
QUERIES = ["cat is good", "the"]
INSTRUCTION = "the good \nof :"
LAYERS = {
    "none": [],
    "dense": [("Dense", {"out_features": 8, "activation_function": "torch.nn.modules.activation.Tanh"})],
    "two": [
        ("Dense", {"out_features": 32, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"}),
        ("Normalize", {}),
        ("Dense", {"out_features": 8, "activation_function": "torch.nn.modules.activation.GELU"}),
    ],
    "residual": [("Dense", {"out_features": 8, "use_residual": True})],
}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch) -> None:
    """Keep the vectors of an earlier run, of other code, out of the comparison."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))


def save(folder: Path, architecture: str = "bert", pooling: str = "mean", layers: str = "none", **options) -> Path:
    """Save a checkpoint with all the files of sentence-transformers."""
    save_checkpoint(folder, architecture, pooling=pooling, **options)
    add_layers(folder, LAYERS[layers])
    prompts = {"prompts": {"query": INSTRUCTION, "document": ""}, "similarity_fn_name": "cosine"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    return folder


def agree(folder: Path, **options) -> None:
    """See that both kinds of text get the vectors that sentence-transformers' own two calls give."""
    ours = load_model(folder, device="cpu", **options)
    theirs = SentenceTransformer(str(folder), device="cpu", truncate_dim=options.get("dim"))
    for texts, kind, call in ((PASSAGES, "passage", theirs.encode_document), (QUERIES, "query", theirs.encode_query)):
        expected = call(texts, normalize_embeddings=True)
        computed = encode(ours, texts, kind=kind, batch_size=2)
        assert computed.shape == expected.shape
        np.testing.assert_allclose(computed, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("architecture", "pooling", "layers", "dim"),
    [
        ("mpnet", "cls", "none", None),
        ("roberta", "mean", "none", None),
        ("bert", "max", "dense", None),
        ("bert", "lasttoken", "residual", None),
        ("qwen3", "lasttoken", "two", None),
        ("bert", "mean", "dense", 5),
        ("qwen3", "lasttoken", "none", 5),
        ("t5 encoder", "mean", "dense", None),  # Sentence-T5 and GTR, which lack a decoder
    ],
)
def test_models_are_run_as_sentence_transformers_runs_them(tmp_path, architecture, pooling, layers, dim):
    """The published scores of a model could not be reproduced.

    Without its dense layer it ranks otherwise than its authors measured; cut after the scaling, vectors have other
    lengths, and their inner product is no cosine.
    """
    agree(save(tmp_path / "tiny", architecture, pooling, layers), dim=dim)


@pytest.mark.parametrize(
    ("architecture", "side"),
    [("qwen2", "left"), ("qwen3", "right"), ("qwen2 both ways", "left"), ("gpt2", "left"), ("gpt2", "right")],
)
def test_decoders_are_pooled_by_their_last_token(tmp_path, architecture, side):
    """Padding on the left would be taken for text, and on the right for the last token."""
    folder = save(tmp_path / "tiny", architecture, "lasttoken", padding_side=side)
    if (architecture, side) != ("gpt2", "left"):  # sentence-transformers counts padding as positions there
        agree(folder)
    model = load_model(folder, device="cpu")
    alone = np.concatenate([encode(model, [text], batch_size=1) for text in PASSAGES])
    np.testing.assert_allclose(encode(model, PASSAGES, batch_size=4), alone, atol=1e-5)


def test_a_length_that_no_vector_has_is_refused(tmp_path):
    """Slicing takes any number and gives something."""
    folder = save(tmp_path / "tiny", layers="dense")
    for dim in (0, 9):
        with pytest.raises(ValueError, match=rf"dim={dim}: tiny has vectors of 8 dimensions"):
            load_model(folder, dim=dim)


def test_the_end_token_is_put_where_own_code_would(tmp_path):
    """gte-Qwen2 is pooled at a token that its own code, which is not run, puts behind each text."""
    folder = save(tmp_path / "marked", "qwen2", "lasttoken", bare=True, eos_token="[SEP]")
    plain = load_model(folder, device="cpu").tokenizer
    change(folder / "tokenizer_config.json", add_eos_token=True)
    ended, ids = load_model(folder, device="cpu").tokenizer, plain("cat dog")["input_ids"]
    assert ended("cat dog")["input_ids"] == [*ids, plain.eos_token_id]
    assert ended("cat dog", truncation=True, max_length=2)["input_ids"] == [ids[0], plain.eos_token_id]


def test_a_decoder_whose_own_code_may_see_both_ways_is_refused(tmp_path):
    """gte-Qwen2's code lets tokens see both ways; transformers' own Qwen2 gives it quite other vectors."""
    folder = save(tmp_path / "tiny", "qwen2", "lasttoken")
    change(folder / "config.json", auto_map={"AutoModel": "modeling_qwen.Qwen2Model"})
    with pytest.raises(ValueError, match=r'tiny: .*code of its own, which is never run.*"is_causal": false'):
        load_model(folder)
    change(folder / "config.json", is_causal=True)
    causal = encode(load_model(folder, device="cpu"), PASSAGES)
    change(folder / "config.json", is_causal=False)
    both = encode(load_model(folder, device="cpu"), PASSAGES)
    assert not np.allclose(causal, both, atol=1e-3)


def test_a_decoder_under_another_pooling_is_refused(tmp_path):
    """The first token of a decoder has seen nothing, and a mean of its tokens was not what it was trained with."""
    folder = save(tmp_path / "tiny", "qwen3", "max")
    for pooling in (None, "mean"):
        with pytest.raises(ValueError, match=r"tiny \(qwen3\) is not a text encoder.*pooling='lasttoken'"):
            load_model(folder, pooling=pooling)
    assert load_model(folder, pooling="lasttoken").info.pooling == "lasttoken"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"activation_function": "os.system"}, "2_Dense: no activation 'os.system' here; it has Tanh"),
        ({"activation_function": "torch.hub.load"}, "2_Dense: no activation 'torch.hub.load'"),
        ({"activation_function": "evil.Tanh"}, "2_Dense: no activation 'evil.Tanh'"),
        ({"module_input_name": "token_embeddings"}, "2_Dense: module_input_name is 'token_embeddings'"),
        ({"out_features": 9}, "2_Dense: its weights do not fit its config.json"),
    ],
)
def test_a_dense_layer_that_is_not_understood_is_refused(tmp_path, config, message):
    """A name in a downloaded file must not be called, and half a layer must not be left out."""
    folder = save(tmp_path / "tiny", layers="dense")
    change(folder / "2_Dense" / "config.json", **config)
    with pytest.raises(ValueError, match=message) as error:
        load_model(folder)
    assert "\n" not in str(error.value)


def set_module(folder: Path, row: int, **entries: str) -> None:
    """Set entries of a module in modules.json."""
    modules = json.loads((folder / "modules.json").read_text())
    modules[row] |= entries
    (folder / "modules.json").write_text(json.dumps(modules))


@pytest.mark.parametrize(
    ("row", "kind"), [(2, "LSTM"), (0, "StaticEmbedding"), (0, "custom_st.Transformer"), (1, "mine.Pooling")]
)
def test_layers_of_other_kinds_are_refused(tmp_path, row, kind):
    """A layer left out, or one's own code in its place, gives scores of no model."""
    folder = save(tmp_path / "tiny", layers="dense")
    set_module(folder, row, type=kind if "." in kind else f"sentence_transformers.models.{kind}")
    with pytest.raises(ValueError, match=rf"a further layer \({kind}\) that is not understood here"):
        load_model(folder)


def test_layers_are_read_from_folders_of_the_model(tmp_path):
    """A layer read from somewhere else gives scores of no model; another pooling, or none, is in 1_Pooling.

    LaBSE and others have only pytorch_model.bin for a dense layer.
    """
    folder = save(tmp_path / "tiny", pooling="cls", layers="dense")
    (folder / "1_Pooling").rename(folder / "pool")
    set_module(folder, 1, path="pool")
    torch.save(load_file(folder / "2_Dense" / "model.safetensors"), folder / "2_Dense" / "pytorch_model.bin")
    (folder / "2_Dense" / "model.safetensors").unlink()
    assert load_model(folder, device="cpu").info.pooling == "cls"
    agree(folder)
    set_module(folder, 2, path="../2_Dense")
    with pytest.raises(ValueError, match=r"'\.\./2_Dense' of its modules\.json is no folder of the model"):
        load_model(folder)
    set_module(folder, 1, path="../pool")
    with pytest.raises(ValueError, match=r"names \['\.\./pool'\] as its pooling; expected one folder of the model"):
        load_model(folder)


def test_an_instruction_left_out_of_the_pooling_is_refused(tmp_path):
    """INSTRUCTOR pools only what stands behind the instruction; with it in, its vectors are others."""
    folder = save(tmp_path / "tiny")
    change(folder / "1_Pooling" / "config.json", include_prompt=False)
    with pytest.raises(ValueError, match="leaves the instruction's tokens out of its pooling"):
        load_model(folder)
    assert load_model(folder, query_instruction="").info.pooling == "mean"


def test_texts_are_lowercased_where_the_files_say_so(tmp_path):
    """A cased tokenizer would meet capitals that the model never saw; and the cache give the vectors of before."""
    folder, name = save(tmp_path / "cased"), "sentence_bert_config.json"
    (folder / name).write_text('{"max_seq_length": 64, "do_lower_case": true}')
    agree(folder)
    model = load_model(folder, device="cpu")
    lowered, plain = (recipe_of(replace(model, info=replace(model.info, lower_case=is_lowered)), "query", 8)
                      for is_lowered in (True, None))  # fmt: skip
    assert model.info.lower_case
    assert lowered.shard_name(["a"]) != plain.shard_name(["a"])
    with pytest.raises(ValueError, match=r"cased lowercases texts.*which FlagModel does not"):
        load_model(folder, backend="FlagEmbedding")
    change(folder / "tokenizer_config.json", do_lower_case=True)
    change(folder / "tokenizer.json", normalizer={"type": "Lowercase"})
    assert load_model(folder, backend="FlagEmbedding", device="cpu").info.lower_case is None


@pytest.mark.parametrize(
    "lengths", [{"max_seq_length": 6}, {"max_seq_length": 9, "query_length": 5, "document_length": 4}]
)
@pytest.mark.filterwarnings("ignore:Texts are longer")
def test_the_lengths_are_those_of_the_files(tmp_path, lengths):
    """Texts would be read to the end whose end the authors cut off; a longer query is another query."""
    folder = save(tmp_path / "tiny")
    for network in LENGTHS:
        (folder / f"sentence_{network}_config.json").write_text(json.dumps(lengths))
        assert read_card(folder).max_length == lengths["max_seq_length"]
        if network != LENGTHS[-1]:
            (folder / f"sentence_{network}_config.json").unlink()
    agree(folder)
    assert load_model(folder, device="cpu", max_length=7).info.length("query") == 7


@pytest.mark.parametrize("by", ["transformers", "sentence-transformers"])
def test_a_reranker_is_no_embedding_model(tmp_path, by):
    """The message said to name a pooling, and then scores came that mean nothing."""
    folder = write_reranker(tmp_path / "ce")
    if by == "sentence-transformers":
        CrossEncoder(str(folder), device="cpu").save_pretrained(str(tmp_path / "theirs" / "ce"))
        folder = tmp_path / "theirs" / "ce"
    for pooling in (None, "cls"):
        with pytest.raises(ValueError, match=r"ce is a reranker \(BertForSequenceClassification\).* and by = "):
            load_model(folder, pooling=pooling)
    require_head(read_checkpoint(folder))  # what the message says to do with it


def test_a_reranker_needs_its_head(tmp_path):
    """transformers invents the missing weights, with a warning that nobody sees: other scores each time."""
    embedding = save(tmp_path / "bge", pooling="cls")
    change(embedding / "config.json", id2label={"0": "LABEL_0"}, label2id={"LABEL_0": 0})
    decoder = save_checkpoint(tmp_path / "yes-or-no", "qwen2", pooling=None)
    for folder in (embedding, decoder):
        with pytest.raises(ValueError, match=f"{folder.name} is no reranker: it has no weights '(classifier|score)"):
            require_head(read_checkpoint(folder))
    with pytest.raises(ValueError, match="two gives 2 scores a pair"):
        require_head(read_checkpoint(write_reranker(tmp_path / "two", labels=2)))


def test_a_pointer_is_not_taken_for_the_weights(tmp_path):
    """Without Git LFS a clone has pointers in place of large files, and a loader's message does not say so."""
    folder = save(tmp_path / "tiny")
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12\n")
    with pytest.raises(ValueError, match=r"'tiny' has a Git LFS pointer for model\.safetensors.*git lfs pull"):
        load_model(folder)
