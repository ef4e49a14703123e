"""The spec of a system: one text, or one table of a TOML file; nothing is read but that file.

Text: what the system is, then perhaps ``?`` and options joined by ``&``: ``models/mine?pooling=cls&max_length=256``.

    bm25, tfidf                 matching of words
    models/mine, BAAI/bge-m3    a model: a folder, or the id of one on the hub
    vectors/mine                a folder of embeddings (passages.npy, queries.npy)
    runs/mine.trec              a run in TREC's format, of any engine

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

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from helpers.models import OFFLINE_DEFAULT
from helpers.models.files import WEIGHTS, sha256_of

WORDS = {"bm25": "BM25", "tfidf": "TF-IDF", "tf-idf": "TF-IDF"}
OPTIONS: dict[str, dict[str, type]] = {  # of each kind of system, and the type of each
    "model": {
        "name": str, "pooling": str, "query_instruction": str, "passage_instruction": str, "max_length": int,
        "device": str, "dim": int, "backend": str, "half": bool, "batch_size": int, "index": str,
    },
    "embeddings": {"name": str, "index": str},
    "run": {"name": str},
    "words": {"name": str},
    "fuse": {"how": str, "weights": list, "depth": int},
    "rerank": {"by": str, "depth": int, "model": str, "device": str, "max_length": int, "batch_size": int},
}  # fmt: skip
KIND_KEYS = ("model", "run", "words", "fuse", "rerank")  # a table has one of these keys


@dataclass(frozen=True)
class Spec:
    """How to make a system.

    Attributes:
        name: its name in tables.
        kind: a key of ``OPTIONS``, or "object" for a Python object that ranks.
        where: a path, a hub id or the name of a baseline; empty for fusion and reranking.
        options: those of its kind.
        parts: the names of the systems whose rankings it takes.
        named: whether a person chose the name.
    """

    name: str
    kind: str
    where: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    named: bool = False


def one_line(text: object) -> str:
    """Return a name or message on one line; characters that a terminal would obey are written as escapes."""
    line = " ".join(str(text).split())
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def from_text(text: str) -> Spec:
    """Read one system from text.

    Raises:
        ValueError: an unknown option, or a value of another type.
    """
    where, mark, tail = (text, "", "") if Path(text).expanduser().exists() else text.partition("?")
    options: dict[str, str] = {}
    for pair in tail.split("&") if mark else []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{text!r}: {pair!r} is no option; write key=value, joined by &.")
        options[key] = unquote(value)
    return _simple(where, options, text, None)


def from_toml(path: str | Path) -> list[Spec]:
    """Read systems from a TOML file, in its order; paths in it are relative to its folder.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not TOML, no ``[systems.NAME]``, keys that do not go together, parts that are not named in it.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"No file {str(path)!r}; --systems takes a TOML file with a table [systems.NAME] each.")
    where = one_line(path.name)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("systems")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{where}: not TOML ({error}).") from None
    if not isinstance(tables, dict) or not tables or not all(isinstance(t, dict) for t in tables.values()):
        raise ValueError(f"{where}: no table [systems.NAME]; write one for each system.")
    specs = [_from_table(name, dict(table), where, path.parent) for name, table in tables.items()]
    _check_parts(specs, where)
    return specs


def with_labels(systems: Sequence[Spec]) -> list[Spec]:
    """Give systems of one name distinct labels: by their options, then the folder they lie in, then a digest.

    Raises:
        ValueError: one system twice, or two systems that a person named alike.
    """
    repeated = [s for row, s in enumerate(systems) if any(_same(s, other) for other in systems[:row])]
    if repeated:
        raise ValueError(f"The system {repeated[0].name!r} is given twice; give each once.")
    for label in (_by_options, _by_folder, _by_digest):
        counts = Counter(s.name for s in systems)
        systems = [replace(s, name=label(s)) if counts[s.name] > 1 and not s.named else s for s in systems]
    alike = [name for name, count in Counter(s.name for s in systems).items() if count > 1]
    if alike:
        raise ValueError(f"Two systems are called {alike[0]!r}: give one another name, ?name=… or [systems.NAME].")
    return list(systems)


def short_label(where: str) -> str:
    """Return the name of a system by its place: the last part of its path, a hub id whole."""
    path = Path(where).expanduser()
    return one_line(path.resolve().name) if path.exists() else where


def _simple(where: str, settings: Mapping[str, Any], text: str, folder: Path | None) -> Spec:
    """Return the spec of a model, embeddings, a run or a baseline."""
    path = _beside(where, folder)
    kind = _kind(where, path)
    options = _typed_options(kind, settings, text)
    name = options.pop("name", None)
    if kind == "words":
        return Spec(name or WORDS[where.lower()], kind, WORDS[where.lower()], options, named=bool(name))
    place = where if where == OFFLINE_DEFAULT or not path.exists() else str(path)
    return Spec(name or short_label(place), kind, place, options, named=bool(name))


def _kind(where: str, path: Path) -> str:
    if where.lower() in WORDS:
        return "words"
    if where == OFFLINE_DEFAULT:  # always the bundled one, even beside a folder of that name
        return "model"
    if any((path / f"{stem}.npy").is_file() for stem in ("passages", "queries")):
        return "embeddings"
    return "run" if path.exists() and not path.is_dir() else "model"


def _from_table(name: str, table: dict[str, Any], where: str, folder: Path) -> Spec:
    place = f"{where}, [systems.{name}]"
    keys = [key for key in KIND_KEYS if key in table]
    keys = ["rerank"] if set(keys) == {"rerank", "model"} else keys  # a reranker may name a model, for MaxSim
    if len(keys) != 1:
        raise ValueError(
            f"{place}: expected one of the keys model, run, words, fuse, rerank; found {', '.join(table)}."
        )
    kind, value = keys[0], table.pop(keys[0])
    if kind in ("fuse", "rerank"):
        parts = value if kind == "fuse" else [value]
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ValueError(f'{place}: {kind} names systems, fuse = ["a", "b"] or rerank = "a".')
        options = _typed_options(kind, table, place)
        for key in ("by", "model"):
            if key in options and options[key] != "maxsim" and _beside(options[key], folder).exists():
                options[key] = str(_beside(options[key], folder))
        return Spec(name, kind, "", options, tuple(parts), named=True)
    if not isinstance(value, str):
        raise ValueError(f"{place}: {kind} must be text, not {value!r}.")
    spec = _simple(value, {**table, "name": name}, place, folder)
    if spec.kind != kind and (kind == "words" or (kind == "run" and spec.kind != "model")):
        raise ValueError(f"{place}: {value!r} is no {kind}.")
    return replace(spec, kind=kind if kind in ("run", "words") else spec.kind)


def _typed_options(kind: str, settings: Mapping[str, Any], place: str) -> dict[str, Any]:
    known = OPTIONS[kind]
    unknown = [key for key in settings if key not in known]
    if unknown:
        noun = {"words": "a baseline", "embeddings": "embeddings"}.get(kind, f"a {kind}")
        raise ValueError(f"{place}: {noun} has no option {unknown[0]!r}; it has {', '.join(known)}.")
    return {key: _typed(key, value, known[key], place) for key, value in settings.items()}


def _typed(key: str, value: Any, kind: type, place: str) -> Any:
    """Read a value, which is text on the command line and has a type in TOML."""
    if kind is bool and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if kind is int and isinstance(value, str) and re.fullmatch(r"[0-9]+", value):
        value = int(value)
    number = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if not isinstance(value, kind) or (kind is int and not number):
        wanted = {int: "a whole number of at least 1", bool: "true or false", list: "a list"}.get(kind, "text")
        raise ValueError(f"{place}: {key}={value!r}: expected {wanted}.")
    return value


def _check_parts(systems: Sequence[Spec], where: str) -> None:
    seen: list[str] = []
    for system in systems:
        place = f"{where}, [systems.{system.name}]"
        unknown = [part for part in system.parts if part not in seen and part.lower() not in WORDS]
        if unknown:
            raise ValueError(f"{place}: no system {unknown[0]!r} above it; above are {', '.join(seen) or 'none'}.")
        if system.kind == "fuse":
            _check_fusion(system, place)
        if system.kind == "rerank" and "by" not in system.options:
            raise ValueError(f'{place}: say by what: by = "maxsim", or the folder or hub id of a reranker.')
        seen.append(system.name)


def _check_fusion(system: Spec, place: str) -> None:
    how, weights = system.options.get("how", "rrf"), system.options.get("weights")
    if how not in ("rrf", "weighted"):
        raise ValueError(f"{place}: how={how!r}: expected 'rrf' or 'weighted'.")
    if len(system.parts) < 2 or len(set(system.parts)) < len(system.parts):
        raise ValueError(f"{place}: fuse needs at least two different systems.")
    numbers = weights is not None and all(isinstance(w, int | float) and w >= 0 for w in weights)
    if weights is not None and (len(weights) != len(system.parts) or not numbers or not sum(weights)):
        count = len(system.parts)
        raise ValueError(f"{place}: weights={weights!r}: expected {count} numbers of at least 0, one a system.")


def _beside(text: str, folder: Path | None) -> Path:
    """Return a path, relative to ``folder`` if there is such a file in it."""
    path = Path(text).expanduser()
    return folder / path if folder is not None and not path.is_absolute() and (folder / path).exists() else path


def _same(one: Spec, other: Spec) -> bool:
    def key(s: Spec) -> tuple[object, ...]:
        return (s.kind, s.where, tuple(sorted(map(str, s.options.items()))), s.parts)

    return (
        one.kind != "object" and key(one) == key(other) and (one.name == other.name or not (one.named and other.named))
    )


def _by_folder(system: Spec) -> str:
    path = Path(system.where).expanduser()
    return f"{one_line(path.resolve().parent.name)}/{system.name}" if system.where and path.exists() else system.name


def _by_options(system: Spec) -> str:
    shown = ", ".join(f"{key}={value}" for key, value in system.options.items())
    return f"{system.name} ({shown})" if shown else system.name


def _by_digest(system: Spec) -> str:
    """Name a system by its name and the first digits of the SHA-256 of its weights, vectors or run."""
    place = Path(system.where).expanduser()
    files = [place / name for name in (WEIGHTS, "passages.npy")] if place.is_dir() else [place]
    for path in files:
        if system.where and path.is_file():
            return f"{system.name} ({sha256_of(path)[:7]})"
    return system.name
