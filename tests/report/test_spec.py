"""Systems as text and as tables of a TOML file: what is understood, how labels are told apart, what is refused."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

from helpers.models import OFFLINE_DEFAULT
from helpers.report.comparison import load_system
from helpers.report.spec import check_specs, from_text, from_toml, with_labels
from helpers.systems import Words
from tests.checkpoints import save_checkpoint
from tests.systems.samples import write_embeddings, write_foreign_run, write_reranker, write_systems


def test_text_tells_the_kind_of_a_system(tmp_path):
    """A run taken for a model, or a folder of vectors for a network, would fail minutes later."""
    model, vectors = save_checkpoint(tmp_path / "m"), write_embeddings(tmp_path / "v")
    run = write_foreign_run(tmp_path / "r.trec")
    texts = {"BM25": "words", "tf-idf": "words", str(model): "model", str(vectors): "embeddings", str(run): "run",
             OFFLINE_DEFAULT: "model", "BAAI/bge-m3": "model"}  # fmt: skip
    assert {text: from_text(text).kind for text in texts} == texts
    assert from_text(str(model)).name == "m"
    assert (from_text("bm25").name, from_text(OFFLINE_DEFAULT).name) == ("BM25", OFFLINE_DEFAULT)


def test_options_follow_a_question_mark(tmp_path):
    """An instruction would lose its last blank, or a length be text and compared as such."""
    found = from_text("BAAI/bge-m3?pooling=cls&query_instruction=query:%20&max_length=256&half=true&name=mine")
    assert found.where == "BAAI/bge-m3"
    assert found.name == "mine"
    assert found.options == {"pooling": "cls", "query_instruction": "query: ", "max_length": 256, "half": True}
    (tmp_path / "what?").mkdir()
    assert from_text(str(tmp_path / "what?")).where == str(tmp_path / "what?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bm25?k=3", "no option 'k'; there are name"),
        ("a/b?poling=cls", "no option 'poling'; there are name, pooling"),
        ("a/b?pooling", "'pooling' is no option; write key=value, joined by &"),
        ("a/b?max_length=many", "max_length='many': expected a whole number of at least 1"),
        ("a/b?max_length=0", "max_length=0: expected a whole number of at least 1"),
        ("a/b?half=yes", "half='yes': expected true or false"),
    ],
)
def test_a_wrong_option_is_named(text, message):
    """It would be passed over in silence, and the row be of another system than was asked for."""
    with pytest.raises(ValueError, match=message):
        from_text(text)


def test_options_of_words_reach_the_index():
    """BM25 tuned on the command line would be BM25 as it comes; a wrong constant would end a run after the others."""
    tuned = from_text("bm25:characters,k1=0.9?name=mine")
    assert load_system(tuned, {}, progress=False) == Words("BM25:characters,k1=0.9")
    assert (tuned.name, from_text("bm25:stem=porter").name) == ("mine", "BM25:stem=porter")
    assert load_system(from_text("tfidf"), {}, progress=False) == Words("TF-IDF")
    check_specs([tuned])
    for text, message in (("bm25:b=2", "b from 0 to 1"), ("BM25:words,characters", "unit 'characters'")):
        with pytest.raises(ValueError, match=message):
            check_specs([from_text(text)])


def test_a_file_names_systems_of_every_kind(tmp_path):
    """A kind that only the documentation knows could not be asked for; paths would depend on where one stands."""
    found = {system.name: system for system in from_toml(write_systems(tmp_path))}
    kinds = {name: system.kind for name, system in found.items()}
    assert kinds == {
        "model": "model", "cut": "model", "tokens": "model", "approximate": "model", "vectors": "embeddings",
        "theirs": "run", "words": "words", "rrf": "fuse", "weighted": "fuse", "crossed": "rerank",
    }  # fmt: skip
    assert found["crossed"].options["by"] == str(tmp_path / "reranker")
    assert found["weighted"].options["weights"] == [0.7, 0.3]
    check_specs(list(found.values()))


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("", "expected a table [systems.NAME]"),
        ("systems = 3", "expected a table [systems.NAME]"),
        ("[systems.a]\nwords = 'bm25'\n[models]\nhalf = true", "and nothing else"),
        ("[systems.a\n", "systems.toml: not TOML"),
        ("[systems.a]\npooling = 'cls'", "keys model, run, words, fuse, rerank; found pooling"),
        ("[systems.a]\nfuse = ['b', 'c']", "no system 'b' above it; above are none"),
        ("[systems.a]\nfuse = ['bm25']", "fuse needs at least two different systems"),
        ("[systems.a]\nfuse = 'bm25'", "fuse names systems"),
        ("[systems.a]\nfuse = ['bm25', 'tfidf']\nhow = 'sum'", "how='sum': expected 'rrf' or 'weighted'"),
        ("[systems.a]\nfuse = ['bm25', 'tfidf']\nhow='weighted'\nweights = [1]", "expected 2 numbers of at least 0"),
        ("[systems.a]\nrerank = 'bm25'", "say by what"),
        ("[systems.a]\nrerank = 'bm25'\nby = 'x/y'\ndepth = 0", "depth=0: expected a whole number of at least 1"),
        ("[systems.a]\nmodel = 3", "model must be text, not 3"),
        ("[systems.a]\nmodel = 'a/b'\nmax_length = true", "max_length=True: expected a whole number"),
    ],
)
def test_a_wrong_table_is_named(tmp_path, toml, message):
    """The message must say which table and key; the run would start, and fail at its last system."""
    (tmp_path / "systems.toml").write_text(toml)
    with pytest.raises(ValueError, match=r"systems\.toml") as caught:
        from_toml(tmp_path / "systems.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_systems_of_one_name_get_labels_of_their_own(tmp_path):
    """One would take the other's row: by options, then by folder."""
    one, two = save_checkpoint(tmp_path / "x" / "m", seed=1), save_checkpoint(tmp_path / "y" / "m", seed=2)
    names = [s.name for s in with_labels([from_text(str(one)), from_text(f"{one}?pooling=cls")])]
    assert names == ["x/m", "x/m (pooling=cls)"]
    assert [s.name for s in with_labels([from_text(str(one)), from_text(str(two))])] == ["x/m", "y/m"]
    with pytest.raises(ValueError, match="Two systems are called 'x/m'"):
        with_labels([from_text(str(one)), from_text(str(one))])
    with pytest.raises(ValueError, match="Two systems are called 'same'"):
        with_labels([from_text(f"{one}?name=same"), from_text(f"{two}?name=same")])


def test_a_mistyped_path_is_not_taken_for_a_hub_id(tmp_path, monkeypatch):
    """The reader would wait for the hub, and hear of a network where a letter is wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("helpers._hub.reachable", lambda: pytest.fail("asked the network"))
    save_checkpoint(tmp_path / "models" / "encoder")
    with pytest.raises(FileNotFoundError, match="No file or folder 'bm52'; there is 'bm25'"):
        check_specs([from_text("bm52")])
    with pytest.raises(FileNotFoundError, match="No file or folder 'models/encodr'; beside it is 'encoder'"):
        check_specs([from_text("models/encodr")])
    with pytest.raises(FileNotFoundError, match=r"No file or folder 'runs/x\.trec'"):
        check_specs([from_text("runs/x.trec")])
    with pytest.raises(FileNotFoundError, match="No file or folder 'nothing'"):
        check_specs([from_text("nothing")])


def test_a_hub_id_is_looked_up_before_anything_is_loaded(monkeypatch):
    """The message must name both ways out, a wrong path and a hub that cannot be reached; or a stack trace come."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConnectionError, match=r"'BAAI/unheard-of', no file or folder here.*not answer.*HF_ENDPOINT"):
        check_specs([from_text("BAAI/unheard-of")])
    monkeypatch.setattr("helpers._hub.reachable", lambda: True)
    missing = RepositoryNotFoundError("no", response=SimpleNamespace(headers={}, request=None, status_code=404))
    for error, message in ((EntryNotFoundError("no"), "has no config.json"), (missing, "has none of this name")):
        monkeypatch.setattr("huggingface_hub.hf_hub_download", Mock(side_effect=error))
        with pytest.raises((ValueError, ConnectionError), match=message):
            check_specs([from_text("BAAI/unheard-of@main")])


def test_what_a_folder_holds_is_checked_before_it_is_loaded(tmp_path):
    """Damaged weights, a folder without any, an option that cannot be: each would fail after the others had run."""
    model = save_checkpoint(tmp_path / "m")
    with pytest.raises(ValueError, match="Unknown pooling 'median': expected one of cls, mean"):
        check_specs([from_text(f"{model}?pooling=median")])
    with pytest.raises(ValueError, match="backend='onnx': expected one of"):
        check_specs([from_text(f"{model}?backend=onnx")])
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"m/model\.safetensors is damaged; download or copy it again \(Safetensor"):
        check_specs([from_text(str(model))])
    (tmp_path / "systems.toml").write_text("[systems.a]\nrerank = 'bm25'\nby = 'reranker'")
    weights = write_reranker(tmp_path / "reranker") / "model.safetensors"
    weights.unlink()
    with pytest.raises(ValueError, match=r"'reranker' holds no weights: no model\.safetensors in it"):
        check_specs([from_toml(tmp_path / "systems.toml")[0]])
