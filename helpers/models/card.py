"""What a model is and its intended use, from the JSON files of its folder and the model cards of its family."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from helpers._io import Fields

# Instructions for a query and a passage from the model cards of families whose files do not contain them, by a pattern
# of the model's name without its owner.
FAMILIES = {
    r"bge-(?:small|base|large)-en(?:-v1\.5)?": ("Represent this sentence for searching relevant passages: ", ""),
    r"bge-(?:small|base|large)-zh(?:-v1\.5)?": ("为这个句子生成表示以用于检索相关文章：", ""),
    r"(?:multilingual-)?e5-(?:small|base|large)(?:-v2|-unsupervised)?(?:-4bit)?": ("query: ", "passage: "),
}
# Keys of 1_Pooling/config.json before sentence-transformers 5, which writes one key, pooling_mode.
POOLING_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "lasttoken",
}
# What sentence-transformers 2 to 6 calls the file of the network's length, the first that exists.
LENGTHS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
# Keys of its files that say nothing of the vectors.
HARMLESS = (
    "__version__", "model_type", "transformer_task", "modality_config", "module_output_name", "unpad_inputs",
    "word_embedding_dimension", "embedding_dimension",
)  # fmt: skip
ELSEWHERE = "Compute its embeddings elsewhere and load those."
OURS = re.compile(r"^sentence_transformers\..*\.")  # before the name of a module that needs no code of the model's own
# Modules that, apart from the pooling, do not change the cosine of two vectors.
NO_EFFECT = ("Transformer", "Pooling", "Normalize", "Dropout")


class Pooling(StrEnum):
    """The poolings of token vectors; :mod:`helpers.models.pooling` has the formulas.

    One vector per text: the vector of [CLS]; the mean of the token vectors; their maximum in each dimension; their
    mean weighted by the attention each token receives in the last layer; the mean over padding too, a mistake; the
    vector of the last token, the only one that attends to all others in a decoder such as Qwen. MAXSIM keeps one
    vector per token, for :func:`helpers.index.maxsim`.
    """

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    ATTENTION = "attention"
    UNMASKED_MEAN = "unmasked_mean"
    LAST_TOKEN = "lasttoken"
    MAXSIM = "maxsim"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(f"Unknown pooling {value!r}: expected one of {', '.join(cls)}.")


@dataclass(frozen=True)
class ModelInfo:
    """The identity of a model and its encoding options; None for an unknown value."""

    name: str  # hub id, or name of the folder
    sha256: str  # over the names and contents of all files of the model
    weights_sha256: str  # of the weights alone, to compare with the hub
    pooling: str | None = None  # such as ``cls`` or ``mean``
    query_instruction: str | None = None  # text put before each query, empty if none
    passage_instruction: str | None = None
    max_length: int | None = None  # in tokens; longer texts are truncated
    dim: int | None = None  # leading dimensions kept before scaling to length one; None for all
    files: dict[str, str] | None = None  # SHA-256 by file name, for precomputed embeddings
    query_length: int | None = None  # the maximum length of queries, if it is another
    lower_case: bool | None = None  # True if texts are lowercased first, which the tokenizer alone would not do
    unused: Sequence[str] | None = None  # keys of the model's files that are not read, each with its file

    def length(self, kind: str) -> int | None:
        """Return the maximum input length of texts of a kind, ``query`` or ``passage``."""
        return (self.query_length if kind == "query" else None) or self.max_length


@dataclass(frozen=True)
class Card:
    """The content of the JSON files of a model's folder."""

    name: str  # of the folder
    config: dict[str, Any]  # ``config.json``
    tokenizer: dict[str, Any]  # ``tokenizer_config.json``
    poolings: list[str]  # those in the folder that ``modules.json`` names, or ``1_Pooling``; empty without the file
    pools_prompt: bool  # whether the pooling includes the tokens of an instruction
    layers: list[tuple[str, str]]  # kind and folder of each in ``modules.json``, such as ``("Dense", "2_Dense")``
    prompts: Fields  # texts to put before queries and passages, by name
    similarity: str  # that the vectors were trained for
    max_length: int | None  # tokens at which the authors truncate; None if not stated
    query_length: int | None  # the same for one kind of text alone
    passage_length: int | None
    lower_case: bool  # whether texts are lowercased before the tokenizer reads them
    kind: str  # what sentence-transformers says that the model is
    files: dict[str, Fields]  # by file name; they know which fields were read

    def require_runnable(self, instructions: tuple[str, str]) -> None:
        """Raise ValueError for a model that is not run here as its authors do.

        It is a reranker, or another that gives no vector for a text; or was not made for the cosine of vectors pooled
        over all tokens, those of the ``instructions`` included.
        """
        architecture = str((self.config.get("architectures") or [""])[0])
        if self.kind == "CrossEncoder" or (architecture.endswith("ForSequenceClassification") and not self.poolings):
            raise ValueError(
                f"{self.name} is a reranker ({architecture}), which reads a query and a passage together and gives no "
                'vectors: it reorders what another system found, rerank = "bm25" and by = "…" in a file of systems.'
            )
        if self.kind not in ("", "SentenceTransformer"):
            raise ValueError(
                f"{self.name} is a {self.kind} of sentence-transformers, which is not run here. {ELSEWHERE}"
            )
        scaled = any(kind == "Normalize" for kind, _ in self.layers)
        # For vectors of length one, dot product and Euclidean distance rank like the cosine.
        if self.similarity != "cosine" and (self.similarity == "manhattan" or not scaled):
            raise ValueError(
                f"{self.name} was trained for {self.similarity!r} similarity of vectors of any length; here all are "
                "scaled to length one and compared by their cosine, so its scores would be wrong. Take a model made "
                "for the cosine."
            )
        if any(instructions) and not self.pools_prompt:
            raise ValueError(
                f"{self.name} leaves the instruction's tokens out of its pooling (include_prompt), which is not done "
                f"here; its scores would be wrong. {ELSEWHERE}"
            )

    def choose_pooling(self, pooling: str | None, *, required: bool) -> Pooling | None:
        """Return ``pooling``, by default the model's own; None if it has no supported one and none is ``required``."""
        if pooling is None and len(self.poolings) == 1 and self.poolings[0] in set(Pooling):
            pooling = self.poolings[0]
        if pooling is not None or not required:
            return None if pooling is None else Pooling(pooling)
        if self.poolings:
            raise ValueError(
                f"{self.name} pools by {' and '.join(self.poolings)}, which is not done here, and another pooling "
                f"would give other scores. {ELSEWHERE}"
            )
        raise ValueError(
            f"{self.name} does not say how it pools (no 1_Pooling/config.json): pass pooling='cls' or 'mean', as "
            "its authors say; behind the name of a system, ?pooling=cls."
        )

    def flag_fault(self, pooling: str | None) -> str | None:
        """Return why FlagEmbedding's ``FlagModel`` would not run the model as its authors do; None if it would."""
        if self.query_length or (self.lower_case and not self.tokenizer.get("do_lower_case")):
            return f"{self.name} lowercases texts, or cuts queries shorter than passages, which FlagModel does not."
        if omitted := [kind for kind, _ in self.layers if kind not in NO_EFFECT]:
            return f"{self.name} has a further layer ({omitted[0]}) that FlagModel omits; its scores would be wrong."
        poolings = self.poolings if pooling is None else [str(pooling)]
        if poolings not in ([], ["cls"], ["mean"]):
            return (
                f"{self.name} under pooling {poolings} is no model for FlagModel, which has 'cls' and 'mean'; for the "
                "others of helpers.models.pooling pass backend='transformers'."
            )
        return None

    def instructions(self, name: str, query: str | None, passage: str | None) -> tuple[str, str]:
        """Return the texts to put before a query and before a passage.

        Arguments take precedence, ``""`` included; then the model's own prompts; then those of the family of ``name``.
        """
        passage_prompts = [self.prompts.get(key) for key in ("document", "passage", "corpus")]
        prompts = self.prompts.get("query") or "", next(filter(None, passage_prompts), "")
        default = prompts if any(prompts) else family_instructions(name)
        return default[0] if query is None else query, default[1] if passage is None else passage


def family_instructions(name: str) -> tuple[str, str]:
    """Return the instructions of a model's family for a query and a passage; empty strings if there are none."""
    last = name.split("/")[-1]
    found = (texts for pattern, texts in FAMILIES.items() if re.fullmatch(pattern, last, re.IGNORECASE))
    return next(found, ("", ""))


def read_card(folder: Path) -> Card:
    """Read the JSON files of a model's folder."""
    name, files = folder.name, dict[str, Fields]()
    try:
        modules = read_json(folder / "modules.json")
        layers = [(OURS.sub("", module["type"]), str(module.get("path", ""))) for module in modules]
        pooled = [path or "1_Pooling" for kind, path in layers if kind == "Pooling"] or ["1_Pooling"]
        if len(pooled) > 1 or Path(pooled[0]).name != pooled[0]:
            raise ValueError(f"{name}: modules.json names {pooled} as its pooling; expected one folder of the model.")
        settings = _read_fields(files, folder, "config_sentence_transformers.json")
        pooling = _read_fields(files, folder, f"{pooled[0]}/config.json")
        flags = [key for key in pooling if key.startswith("pooling_mode_") and pooling[key]]
        mode = pooling.get("pooling_mode", [POOLING_FLAGS.get(key, key) for key in flags])
        network = _read_fields(files, folder, *(f"sentence_{kind}_config.json" for kind in LENGTHS))
        lengths = [network.get(key) for key in ("max_seq_length", "query_length", "document_length")]
        whole, query, passage = (length if isinstance(length, int) and length > 0 else None for length in lengths)
        card = Card(
            name=name,
            config=dict(read_json(folder / "config.json")),
            tokenizer=dict(read_json(folder / "tokenizer_config.json")),
            poolings=[str(name) for name in (mode if isinstance(mode, list) else [mode])],
            pools_prompt=pooling.get("include_prompt") is not False,
            layers=layers,
            prompts=Fields(dict(settings.get("prompts") or {})),
            similarity=str(settings.get("similarity_fn_name") or "cosine"),
            max_length=whole,
            query_length=query,
            passage_length=passage,
            lower_case=bool(network.get("do_lower_case")),
            kind=str(settings.get("model_type") or ""),
            files=files,
        )
        files["prompts"] = card.prompts
        for other in sorted(folder.glob("sentence_*_config.json")):  # which sentence-transformers does not read
            files.setdefault(other.name, Fields(read_json(other)))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"{name}: its JSON files are not of the form that sentence-transformers writes ({error}); download the "
            "model again."
        ) from None
    if unknown := {kind for kind, _ in layers} - {*NO_EFFECT, "Dense"}:
        raise ValueError(
            f"{name} has a further layer ({min(unknown)}) that is not understood here; its scores would be wrong. "
            f"{ELSEWHERE}"
        )
    return card


def _read_fields(files: dict[str, Fields], folder: Path, *names: str) -> Fields:
    """Read the first of these files that exists, and put it among ``files``."""
    file = next((name for name in names if (folder / name).exists()), names[0])
    files[file] = Fields(dict(read_json(folder / file)))
    for key in HARMLESS:
        files[file].get(key)
    return files[file]


def read_json(path: Path) -> Any:
    """Read a JSON file of a model's folder; return an empty dict if the file does not exist."""
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:  # invalid JSON and invalid UTF-8 are ValueErrors
        raise ValueError(
            f"'{path.parent.name}/{path.name}' cannot be read ({error}); download the model again."
        ) from None
