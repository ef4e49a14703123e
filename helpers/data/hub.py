"""Read a folder in the layout of the Hugging Face hub, or a data set of the hub, whose tables are downloaded first.

``README.md`` lists configurations and their files, which must be in the folder or repository; without it the split of
a file is taken from its name.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from helpers._fields import Fields
from helpers._hub import hub_or_local_cache, split_revision
from helpers._io import PACKED, plain_name, require_inside
from helpers.data.build import Reading
from helpers.data.formats import DEV, READERS, Cell, Table, choose_split, kind_of, read_table

OFFLINE_DATA = "pocket-en"
SETTINGS = "README.md"
ROLES = ("corpus", "queries", "qrels", "instruction")
SPLITS = {"train": ("train", "training"), "validation": DEV, "test": ("test", "testing", "eval", "evaluation")}
SHOWN = 20  # names listed in a message

Settings = dict[str, Mapping[str, object]]  # configurations by name
Place = Path | str  # a folder, or a hub id


def read(place: Place, config: str | None, split: str | None, reading: Reading, *, or_only: bool = False) -> Table:
    """Read a table from a file, or from one split of a folder or data set of the hub.

    ``config`` is by default the only configuration, a ``split`` of None the first; ``or_only`` takes the only split if
    there is no ``split``.
    """
    if isinstance(place, Path) and place.is_file():
        return reading.read(place)
    settings = read_settings(place)
    with _named_in_errors(place):
        files = _files_by_split(place, _configuration(settings, config))
        taken = choose_split(list(files), split, or_only=or_only)
        read_tables = (read_table(file, reading.columns.values(), reading.encoding) for file in files[taken])
        tables = [(table, len(next(iter(table.columns.values())))) for table in read_tables]
        names = dict.fromkeys(name for table, _ in tables for name in table.columns)
        columns: dict[str, list[Cell]] = {
            name: [cell for table, rows in tables for cell in table.columns.get(name, [None] * rows)] for name in names
        }
    reading.tables.append(Table(Fields(columns), config or shown_name(place), taken))
    return reading.tables[-1]


def read_settings(place: Place) -> Settings:
    """Return the configurations of a folder or a data set of the hub; empty without settings."""
    with _named_in_errors(place), _files_of(place, [SETTINGS]) as folder:
        path = folder / SETTINGS
        if not path.exists() and not path.is_symlink():
            return {}
        require_inside(folder, path)
        return _parse_settings(path.read_bytes())


@contextlib.contextmanager
def _files_of(place: Place, patterns: Sequence[str]) -> Iterator[Path]:
    """Yield a folder, for a data set of the hub that of the files that match, downloaded if necessary.

    If the hub cannot be reached, an OSError in the block means that they were not downloaded before.
    """
    if isinstance(place, Path):
        yield place
        return
    from huggingface_hub import snapshot_download  # slow to import

    name, revision = split_revision(place)
    with hub_or_local_cache(f"the data set {place!r}", OFFLINE_DATA):
        yield Path(snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=list(patterns)))


def shown_name(place: Place) -> str:
    """Return a hub id, or the name of a folder without its path, which may be private."""
    return place if isinstance(place, str) else place.resolve().name


def choose_roles(names: Sequence[str], wanted: str | None, place: Place) -> dict[str, str] | None:
    """Return the configurations of one collection by role: ``corpus``, ``queries``, ``qrels`` and ``instruction``.

    In ``mteb`` those of a language are ``zh-corpus``, ``zh-queries``, ``zh-qrels`` (MIRACLRetrieval, MintakaRetrieval,
    MultiLongDocRetrieval and others); the language may come last, ``corpus-zh``. Judgements may be in the
    configuration ``default``, or missing; so may ``instruction``. None if the configuration is a table of rows.
    """
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        match = re.fullmatch(rf"(?:(.+)[-_])?({'|'.join(ROLES)})(?:[-_](.+))?", name)
        if match and not (match[1] and match[3]):
            groups.setdefault(match[1] or match[3] or "", {})[match[2]] = name
    if "" in groups and "default" in names:
        groups[""].setdefault("qrels", "default")
    groups = {name: roles for name, roles in groups.items() if {"corpus", "queries"} <= set(roles)}
    if wanted is None and groups and "" not in groups:
        first = next(iter(groups))
        raise ValueError(
            f"{shown_name(place)!r} holds {len(groups)} collections: {_listed(list(groups))}. Choose one: "
            f"config={first!r}, on the command line --config {first!r}."
        )
    if wanted is None or wanted in groups or wanted in names:
        return groups.get(wanted or "")
    if not names:
        raise ValueError(f"{shown_name(place)!r} has no configurations to choose from; leave out config={wanted!r}.")
    listed = _listed([name for name in groups if name] or list(names))
    raise ValueError(f"{shown_name(place)!r} has no configuration {wanted!r}; it has {listed}.")


def _parse_settings(content: bytes) -> Settings:
    """Read configurations from the front matter of a README; refuse paths outside the folder."""
    import yaml

    try:
        front = re.match(r"\s*---\s*\n(.*?)\n---\s*(\n|$)", content.decode().replace("\r\n", "\n"), re.S)
        settings = yaml.safe_load(front[1] if front else "") or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{SETTINGS}: its settings are not YAML ({error}).") from None
    configs = settings.get("configs", []) if isinstance(settings, dict) else None
    if not isinstance(configs, list) or not all(isinstance(entry, dict) for entry in configs):
        raise ValueError(f"{SETTINGS}: its settings must map the name configs to a list of configurations.")
    for entry in configs:
        paths = [path for listed in _patterns(entry).values() for path in listed]
        for pattern in [str(entry.get("data_dir", "")), *paths]:
            path = PureWindowsPath(pattern)  # splits at both slashes
            if "://" in pattern or "::" in pattern or path.anchor or ".." in path.parts:
                raise ValueError(
                    f"{SETTINGS} says to read {pattern!r}, which is outside the folder. Only files in the folder are "
                    f"read: correct {SETTINGS}, or copy the file into the folder."
                )
    return {str(entry.get("config_name", "default")): entry for entry in configs}


def _configuration(settings: Settings, config: str | None) -> Mapping[str, object]:
    """Return the settings of a configuration, by default the only one, or the one marked or named ``default``."""
    if not settings:
        return {}
    if config is None:
        config = next(iter(settings)) if len(settings) == 1 else "default"
        config = next((name for name, entry in settings.items() if entry.get("default") is True), config)
    if config not in settings:
        raise ValueError(
            f"it has several configurations ({_listed(list(settings))}); choose one: config=…, on the command line "
            "--config."
        )
    return settings[config]


def _patterns(entry: Mapping[str, object]) -> dict[str, list[str]]:
    """Return the paths and glob patterns of a configuration's data files, by split."""
    files = entry.get("data_files", [])
    if isinstance(files, list) and files and all(isinstance(item, dict) for item in files):
        files = {item.get("split"): item.get("path") for item in files}
    by_split = files if isinstance(files, dict) else {"train": files} if files else {}
    patterns: dict[str, list[str]] = {}
    for split, paths in by_split.items():
        listed = [paths] if isinstance(paths, str) else paths
        if not isinstance(listed, list) or not all(isinstance(path, str) for path in listed):
            raise ValueError(f"{SETTINGS}: data_files must be a path, a list of paths, or paths by split.")
        patterns[str(split)] = listed
    return patterns


def _files_by_split(place: Place, entry: Mapping[str, object]) -> dict[str, list[Path]]:
    """Return the tables of each split: those in the settings, else all in the folder and its subfolders."""
    inner, listed = PurePosixPath(str(entry.get("data_dir", ""))), _patterns(entry)
    named = [pattern for patterns in listed.values() for pattern in patterns]
    wanted = named or [f"*{suffix}{packed}" for suffix in READERS for packed in ("", PACKED)]
    by_split: dict[str, list[Path]] = {}
    with _files_of(place, [str(inner / pattern) for pattern in wanted]) as folder:
        base = folder / inner
        for split, patterns in listed.items():
            for pattern in patterns:
                path = base / pattern
                files = [path] if path.exists() or path.is_symlink() else sorted(base.glob(pattern))
                if not files:
                    raise FileNotFoundError(f"its settings name {pattern!r}, and there is no such file.")
                by_split.setdefault(split, []).extend(files)
        for file in () if named else sorted(base.rglob("*")):
            path = file.relative_to(base)
            if kind_of(file) and not file.is_dir() and not any(part.startswith((".", "__")) for part in path.parts):
                by_split.setdefault(_split_of(path), []).append(file)
        if not by_split:
            raise FileNotFoundError(f"no table in it; give {', '.join(READERS)}, or one of them .gz.")
        for file in (file for files in by_split.values() for file in files):
            require_inside(folder, file)
    rest = by_split.pop("", [])  # files that belong to no split
    return by_split or {"train": rest}


def _split_of(path: Path) -> str:
    """Return the split of a file, from the words of its path or the part before ``-00000-of-00001``; "" if none."""
    if shard := re.fullmatch(r"(.+)-\d{5}-of-\d{5}", Path(plain_name(path)).stem):
        return shard[1]
    for part in (plain_name(path), *path.parts[-2::-1]):
        words = set(re.split(r"[^a-z]+", part.lower()))
        for split, spellings in SPLITS.items():
            if words.intersection(spellings):
                return split
    return ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


@contextlib.contextmanager
def _named_in_errors(place: Place) -> Iterator[None]:
    """Turn any error but ConnectionError into a ValueError that names the source."""
    try:
        yield
    except ConnectionError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"Cannot read the data set {shown_name(place)!r}: {reason}") from None
