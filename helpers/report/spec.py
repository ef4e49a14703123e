"""The spec of a system: one text, or one table of a TOML file; and the checks of it that take a moment.

Text: the system, then perhaps ``?`` and options joined by ``&``: ``models/mine?pooling=cls&max_length=256``.

    bm25, tfidf                 matching of words; bm25:characters,k1=0.9 as in the lessons
    models/mine, BAAI/bge-m3    a model: a folder, or the id of one on the hub, BAAI/bge-m3@REVISION
    vectors/mine                a folder of embeddings (passages.npy, queries.npy)
    runs/mine.trec              a run in TREC's format, of any engine; runs/*.trec for several

TOML, for names of your own, fusion and reranking::

    [systems.dense]
    model = "models/mine"
    pooling = "cls"

    [systems.both]
    fuse = ["dense", "bm25"]
    how = "rrf"

    [systems.reranked]
    rerank = "both"
    by = "BAAI/bge-reranker-base"
    depth = 50
"""

import contextlib
import difflib
import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from helpers._hub import hub_or_local_cache, is_hub_id, split_revision
from helpers._io import nearest
from helpers.index.words import read_words
from helpers.models import BACKENDS, BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, Pooling, card
from helpers.models.find import bundled_path, one_line_errors, require_loadable, require_package
from helpers.systems.combine import Fusion
from helpers.systems.pipeline import System, Words

WORDS = {"bm25": "BM25", "tfidf": "TF-IDF", "tf-idf": "TF-IDF"}
OPTIONS: dict[str, dict[str, type]] = {  # of each kind of system, and the type of each
    "model": {
        "name": str, "pooling": str, "query_instruction": str, "passage_instruction": str, "max_length": int,
        "device": str, "dim": int, "backend": str, "half": bool, "batch_size": int, "index": str,
    },
    "embeddings": {"name": str, "index": str},
    "run": {"name": str},
    "words": {"name": str},
    "fuse": {"how": str, "weights": list, "depth": int, "rrf_k": float},
    "rerank": {"by": str, "depth": int, "device": str, "max_length": int, "batch_size": int},
}  # fmt: skip
TYPES = {
    int: "a whole number of at least 1", float: "a number of at least 0", bool: "true or false", list: "a list",
    str: "text",
}  # fmt: skip
KIND_KEYS = ("model", "run", "words", "fuse", "rerank")  # a table has one of these keys
Record: TypeAlias = dict[str, Any]  # an object of JSON
Options: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """How to make a system."""

    name: str  # in tables
    kind: str  # a key of ``OPTIONS``, or "object" for a Python object that ranks
    where: str = ""  # a path, a hub id or the name of a baseline; empty for fusion and reranking
    options: Options = field(default_factory=dict)
    parts: tuple[str, ...] = ()  # the names of the systems whose rankings it takes
    named: bool = False  # whether a person chose the name
    system: System | None = None  # what ranks, if it is there before anything is loaded


def one_line(text: object) -> str:
    """Return a name or message on one line; characters that a terminal would obey are written as escapes."""
    line = " ".join(str(text).split())
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def from_text(text: str) -> Spec:
    """Read one system from text."""
    where, mark, tail = (text, "", "") if Path(text).expanduser().exists() else text.partition("?")
    options: Record = {}
    for pair in tail.split("&") if mark else []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{text!r}: {pair!r} is no option; write key=value, joined by &.")
        options[key] = unquote(value)
    return _simple(where, Path(where).expanduser(), options, text)


def from_toml(path: str | Path) -> list[Spec]:
    """Read systems from a TOML file, in its order; paths in it are relative to its folder."""
    path = Path(path).expanduser()
    where, specs = one_line(path.name), list[Spec]()
    if not path.is_file():
        raise FileNotFoundError(f"No file {str(path)!r}; --systems takes a TOML file with a table [systems.NAME] each.")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{where}: not TOML ({error}).") from None
    systems = tables.get("systems")
    if len(tables) > 1 or not isinstance(systems, dict) or not all(isinstance(t, dict) for t in systems.values()):
        raise ValueError(f"{where}: expected a table [systems.NAME] for each system, and nothing else.")
    for name, table in systems.items():
        place = f"{where}, [systems.{name}]"
        spec = _from_table(name, dict(table), place, path.parent)
        above = [other.name for other in specs]
        if unknown := [part for part in spec.parts if part not in above and part.lower() not in WORDS]:
            raise ValueError(f"{place}: no system {unknown[0]!r} above it; above are {', '.join(above) or 'none'}.")
        specs.append(spec)
    return specs


def with_labels(systems: Sequence[Spec]) -> list[Spec]:
    """Give systems distinct labels, by their folders and options where nobody named them."""
    counts = Counter(s.name for s in systems)
    systems = [replace(s, name=_in_full(s)) if counts[s.name] > 1 and not s.named else s for s in systems]
    for name, count in Counter(s.name for s in systems).items():
        if count > 1:
            raise ValueError(f"Two systems are called {name!r}: leave one out or name it, ?name=… or [systems.NAME].")
    return list(systems)


def check_specs(specs: Sequence[Spec]) -> None:
    """Raise unless every system exists and its options go together; no weights are read or downloaded."""
    for spec in specs:
        path, options = Path(spec.where).expanduser(), spec.options
        if spec.kind == "model":
            pooling, backend = options.get("pooling"), options.get("backend")
            if pooling is not None:
                Pooling(pooling)
            if backend not in (None, *BACKENDS):
                raise ValueError(f"backend={backend!r}: expected one of {', '.join(map(repr, BACKENDS))}.")
            if backend == "FlagEmbedding" and path.is_dir() and (fault := card.read_card(path).flag_fault(pooling)):
                raise ValueError(fault)
            _check_model(spec.where)
        elif spec.kind == "words":
            baseline, _, settings = spec.where.partition(":")
            read_words(baseline, settings)
        elif spec.kind == "rerank":
            _check_model(options["by"])


def _simple(where: str, path: Path, settings: Options, text: str) -> Spec:
    """Return the spec of a system that is no fusion or reranking; ``text`` names it in messages."""
    word, colon, settings_of_words = where.partition(":")
    baseline = f"{WORDS[word.lower()]}{colon}{settings_of_words}" if word.lower() in WORDS else ""
    exists = where != OFFLINE_DEFAULT and path.exists()  # its name is the bundled model, even beside such a folder
    vectors = exists and any((path / f"{side}.npy").is_file() for side in ("passages", "queries"))
    kind = "embeddings" if vectors else "run" if exists and not path.is_dir() else "model"
    kind = "words" if baseline else kind
    options = typed_options(OPTIONS[kind], settings, text)
    name = options.pop("name", None)
    label = baseline or (one_line(path.resolve().name) if exists else where)
    return Spec(name or label, kind, baseline or (str(path) if exists else where), options, named=bool(name))


def _from_table(name: str, table: Record, place: str, folder: Path) -> Spec:
    keys = [key for key in KIND_KEYS if key in table]
    if len(keys) != 1:
        raise ValueError(f"{place}: expected one of the keys {', '.join(KIND_KEYS)}; found {', '.join(table)}.")
    kind, value = keys[0], table.pop(keys[0])
    if kind not in ("fuse", "rerank"):
        if not isinstance(value, str):
            raise ValueError(f"{place}: {kind} must be text, not {value!r}.")
        return _simple(value, _beside(value, folder), {**table, "name": name}, place)
    parts = value if kind == "fuse" else [value]
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f'{place}: {kind} names systems, fuse = ["a", "b"] or rerank = "a".')
    options = typed_options(OPTIONS[kind], table, place)
    if kind == "fuse":
        if len(parts) < 2 or len(set(parts)) < len(parts):
            raise ValueError(f"{place}: fuse needs at least two different systems.")
        try:
            Fusion([Words()] * len(parts), **options)  # its options go together, whatever its parts are
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    elif "by" not in options:
        raise ValueError(f"{place}: say by what: by = the folder or hub id of a reranker.")
    if "by" in options and (path := _beside(options["by"], folder)).exists():
        options["by"] = str(path)
    return Spec(name, kind, "", options, tuple(parts), named=True)


def typed_options(known: Mapping[str, type], settings: Options, place: str) -> Record:
    """Read the values of options, which are text on the command line and have a type in TOML."""
    options: Record = {}
    for key, value in settings.items():
        if key not in known:
            raise ValueError(f"{place}: no option {key!r}; there are {', '.join(known)}.")
        kind: Any = known[key]
        if isinstance(value, str) and kind is not str:
            with contextlib.suppress(ValueError):
                value = json.loads(value.lower())
        value = float(value) if kind is float and type(value) is int else value
        if not isinstance(value, kind) or (kind is int and (value is True or value < 1)):
            raise ValueError(f"{place}: {key}={value!r}: expected {TYPES[kind]}.")
        options[key] = value
    return options


def _beside(text: str, folder: Path) -> Path:
    path = Path(text).expanduser()
    return folder / path if (folder / path).exists() else path


def _check_model(where: str) -> None:
    path = Path(where).expanduser()
    if where in BUNDLED and (where == MULTILINGUAL or bundled_path(BUNDLED[where])):
        require_package(where)
    elif path.is_dir():
        from safetensors import safe_open

        require_loadable(path.resolve())
        for file in sorted(path.glob("*.safetensors")):  # one whose download stopped is shorter than its header says
            fault = f"{path.name}/{file.name} is damaged; download or copy it again"
            with one_line_errors(fault), safe_open(str(file), framework="np"):
                pass
    elif path.exists():
        raise ValueError(f"{path.name!r} is a file; a model is a folder, or a hub id owner/name.")
    elif not is_hub_id(where):
        beside, words = nearest(path), difflib.get_close_matches(where.lower(), WORDS, n=1)
        hint = f"; there is {words[0]!r}" if words else f"; beside it is {beside!r}" if beside else ""
        raise FileNotFoundError(f"No file or folder {where!r}{hint}. Check the path.")
    else:
        from huggingface_hub import errors, hf_hub_download, try_to_load_from_cache

        repository, revision = split_revision(where)
        if isinstance(try_to_load_from_cache(repository, "config.json", revision=revision), str):
            return  # downloaded before
        try:
            with hub_or_local_cache(f"{where!r}, no file or folder here, as a model of the hub", OFFLINE_DEFAULT):
                hf_hub_download(repository, "config.json", revision=revision)
        except errors.EntryNotFoundError:
            raise ValueError(f"{where!r} on the hub has no config.json: it is no model that can be loaded.") from None


def _in_full(system: Spec) -> str:
    path, options = Path(system.where).expanduser(), system.options.items()
    folder = f"{one_line(path.resolve().parent.name)}/" if system.where and path.exists() else ""
    shown = ", ".join(f"{key}={value}" for key, value in options)
    return f"{folder}{system.name} ({shown})" if shown else f"{folder}{system.name}"
