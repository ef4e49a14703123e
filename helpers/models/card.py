"""How a model wants to be run: what its own files say, and its family's card where they are silent."""

from pathlib import Path
from typing import Any

from helpers.models.families import family_instructions
from helpers.models.files import read_json
from helpers.models.model import Pooling

# Keys of 1_Pooling/config.json before sentence-transformers 5, which has one key with the name itself.
POOLING_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "lasttoken",
}
NO_EFFECT = (
    "Transformer",
    "Pooling",
    "Normalize",
    "Dropout",
)  # beside the pooling itself, on the cosine of two vectors


def own_poolings(folder: Path) -> list[str] | None:
    """Return the poolings that a model's own configuration names, None where it is silent."""
    path = folder / "1_Pooling" / "config.json"
    if not path.exists():
        return None
    config = read_json(path)
    if "pooling_mode" in config:
        mode = config["pooling_mode"]
        return [str(name) for name in mode] if isinstance(mode, list) else [str(mode)]
    return [POOLING_FLAGS.get(key, key) for key, on in config.items() if key.startswith("pooling_mode_") and on]


def flag_runs(folder: Path, asked: str | None) -> bool:
    """Tell whether FlagModel runs a model as its authors do, with the pooling asked for or with its own."""
    poolings = own_poolings(folder) if asked is None else [asked]
    return not _flag_omits(folder) and poolings in (None, ["cls"], ["mean"])


def flag_pooling(folder: Path, asked: str | None) -> str:
    """Return the pooling asked for, else the model's own, if FlagModel has it.

    Raises:
        ValueError: another pooling than FlagModel's two, a model that states none, or layers behind the pooling.
    """
    if asked not in (None, "cls", "mean"):
        raise ValueError(
            f"pooling={asked!r}: FlagModel has 'cls' and 'mean'; for the others of helpers.models.pooling "
            "pass backend='transformers'."
        )
    _require_no_further_layer(folder)
    if asked is not None:
        return asked
    own = own_poolings(folder)
    if own is None:
        raise ValueError(
            f"{folder.name} does not say how it pools (no 1_Pooling/config.json): pass pooling='cls' or 'mean'."
        )
    if own not in (["cls"], ["mean"]):
        raise ValueError(f"{folder.name} pools by {own}, which FlagModel cannot; it has 'cls' and 'mean'.")
    return own[0]


def transformers_pooling(folder: Path, asked: str | None) -> Pooling | None:
    """Return the pooling asked for, else the model's own if it is one of ours, else None.

    Raises:
        ValueError: an unknown pooling was asked for.
    """
    if asked is not None:
        return Pooling(asked)
    own = own_poolings(folder) or []
    return Pooling(own[0]) if len(own) == 1 and own[0] in set(Pooling) else None


def require_pooling(folder: Path, pooling: Pooling | None) -> None:
    """Raise where a model's own pooling is none of ours."""
    if pooling is None:
        raise ValueError(
            f"{folder.name} pools by {own_poolings(folder)}, which is none of {', '.join(Pooling)}; pass pooling= to "
            "run it under another one, which its authors did not."
        )


def require_prompt_pooled(folder: Path, texts: tuple[str, str]) -> None:
    """Raise where a model leaves the tokens of its instructions out of its pooling, and has instructions."""
    if any(texts) and read_json(folder / "1_Pooling" / "config.json").get("include_prompt") is False:
        raise ValueError(
            f"{folder.name} leaves the instruction's tokens out of its pooling (include_prompt), which is not done "
            "here; its scores would be wrong. Compute its embeddings elsewhere and load those."
        )


def instructions(name: str, folder: Path, query: str | None, passage: str | None) -> tuple[str, str]:
    """Return what to put before a query and before a passage.

    What is asked for comes first, ``""`` included; then the prompts of the model's own
    ``config_sentence_transformers.json``; then those of its family.
    """
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
        raise ValueError(f"{folder.name}/config_sentence_transformers.json: prompts must map names to texts.")
    own_passage = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
    own = prompts.get("query") or "", own_passage
    default = own if any(own) else family_instructions(name)
    return default[0] if query is None else query, default[1] if passage is None else passage


def own_max_length(folder: Path) -> int | None:
    """Return at how many tokens the model's authors truncate (``max_seq_length``), None where they do not say."""
    length = read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    return length if isinstance(length, int) and length > 0 else None


def require_cosine(folder: Path) -> None:
    """Raise if the model says that its vectors are to be compared otherwise, and it does not scale them itself."""
    measure = read_json(folder / "config_sentence_transformers.json").get("similarity_fn_name") or "cosine"
    scaled = any(kind.endswith(".Normalize") for kind in _layers(folder))
    if measure != "cosine" and (measure == "manhattan" or not scaled):  # of unit vectors the others rank alike
        raise ValueError(
            f"{folder.name} was trained for {measure!r} similarity of vectors of any length; here all are scaled to "
            "length one and compared by their cosine, so its scores would be wrong. Take a model made for the cosine."
        )


def further_layers(folder: Path) -> list[tuple[str, str]]:
    """Return the layers behind a model's pooling, each its kind and its folder: "Dense" or "Normalize".

    Raises:
        ValueError: a layer of another kind.
    """
    kinds = [kind.rsplit(".", 1)[-1] for kind in _layers(folder)]
    unknown = [kind for kind in kinds if kind not in (*NO_EFFECT, "Dense")]
    if unknown:
        raise ValueError(
            f"{folder.name} has a further layer ({unknown[0]}) that is not understood here; its scores would be wrong. "
            "Compute its embeddings elsewhere and load those."
        )
    paths = [str(module.get("path", "")) for module in read_json(folder / "modules.json", list)]
    return [layer for layer in zip(kinds, paths, strict=True) if layer[0] in ("Dense", "Normalize")]


def _require_no_further_layer(folder: Path) -> None:
    """Raise where a model has layers that FlagModel does not know."""
    further = _flag_omits(folder)
    if further:
        raise ValueError(
            f"{folder.name} has a further layer ({further[0]}) that FlagModel would leave out; "
            "its scores would be wrong."
        )


def _flag_omits(folder: Path) -> list[str]:
    """Return the types of the layers that FlagModel would leave out."""
    return [kind for kind in _layers(folder) if kind.rsplit(".", 1)[-1] not in NO_EFFECT]


def _layers(folder: Path) -> list[str]:
    """Return the types of the layers that ``modules.json`` lists, none without the file."""
    modules: list[Any] = read_json(folder / "modules.json", list)
    if not all(isinstance(module, dict) and isinstance(module.get("type"), str) for module in modules):
        raise ValueError(f"{folder.name}/modules.json must list objects with a type; download the model again.")
    return [module["type"] for module in modules]
