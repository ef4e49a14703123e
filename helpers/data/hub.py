"""Read a folder in the hub's layout with ``helpers.data.formats``, or a data set of the hub with ``datasets``.

``README.md`` lists configurations and their files, which must be in the folder or repository; without it the split of
a file is taken from its name.
"""

import contextlib
import itertools
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath

from helpers._hub import hub_or_local_cache, split_revision
from helpers._io import Fields, plain_name, require_inside
from helpers.data.build import Reading
from helpers.data.formats import DEV, READERS, Cell, Table, choose_split, kind_of, read_table

OFFLINE_DATA = "pocket-en"
SETTINGS, INFOS = "README.md", "dataset_infos.json"
ROLES = ("corpus", "queries", "qrels", "instruction")
SPLITS = {"train": ("train", "training"), "validation": DEV, "test": ("test", "testing", "eval", "evaluation")}
SHOWN = 20  # names listed in a message

Settings = dict[str, Mapping[str, object]]  # configurations by name
Place = Path | str  # a folder, or a hub id


def read(place: Place, config: str | None, split: str | None, reading: Reading, *, or_only: bool = False) -> Table:
    """Read a table from a file, or from one split of a folder or data set of the hub.

    ``config`` is by default the only configuration, or the one marked or named ``default``; a ``split`` of None is the
    first; ``or_only`` takes the only split if there is no ``split``.
    """
    if isinstance(place, Path) and place.is_file():
        return reading.read(place)
    settings = read_settings(place)
    with _named_in_errors(place):
        chosen = config
        if config is None:
            chosen = next(iter(settings)) if len(settings) == 1 else "default"
            chosen = next((name for name, entry in settings.items() if entry.get("default") is True), chosen)
        if settings and chosen not in settings:
            raise ValueError(
                f"it has several configurations ({_listed(list(settings))}); choose one: config=…, on the command line "
                "--config."
            )
        if isinstance(place, str):
            table = _read_hub(place, config, split, or_only=or_only)
        else:
            files = _files_by_split(place, settings.get(str(chosen), {}))
            taken = choose_split(list(files), split, or_only=or_only)
            parts = [read_table(file, reading.columns.values(), reading.encoding).columns for file in files[taken]]
            columns: dict[str, list[Cell]] = {name: [] for part in parts for name in part}
            for part in parts:
                rows = len(next(iter(part.values())))
                for name, cells in columns.items():
                    cells += part.get(name, [None] * rows)
            table = Table(Fields(columns), config or shown_name(place), taken)
    reading.tables.append(table)
    return table


def read_settings(place: Place) -> Settings:
    """Return the configurations of a folder or a data set of the hub; empty without settings."""
    with _named_in_errors(place):
        if isinstance(place, Path):
            folder = place
        else:
            with _quietly(), hub_or_local_cache(f"the data set {place!r}", OFFLINE_DATA):
                folder = _snapshot(place)
        if isinstance(place, str) and (infos := folder / INFOS).exists():
            _require_no_names_file(INFOS, json.loads(infos.read_bytes()))
        path = folder / SETTINGS
        if not path.exists() and not path.is_symlink():
            return {}
        require_inside(folder, path)
        return _parse_settings(path.read_bytes())


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


def _read_hub(hub_id: str, config: str | None, split: str | None, *, or_only: bool) -> Table:
    import datasets
    import huggingface_hub
    from datasets.features.features import require_storage_embed

    name, revision = split_revision(hub_id)
    with _quietly():
        with hub_or_local_cache(f"the data set {hub_id!r}", OFFLINE_DATA):
            try:
                builder = datasets.load_dataset_builder(name, config, revision=revision)
            except ValueError as error:  # raised by datasets offline if nothing was downloaded before
                if huggingface_hub.constants.HF_HUB_OFFLINE:
                    raise FileNotFoundError(str(error)) from error
                raise
            if huggingface_hub.constants.HF_HUB_OFFLINE and builder.hash != (commit := _snapshot(hub_id).name):
                # Offline, datasets selects the revision that was loaded last, which may be another one.
                names = {"dataset_name": builder.dataset_name, "repo_id": name, "config_name": builder.config.name}
                builder = type(builder)(version=str(builder.config.version), hash=commit, **names)
            builder.download_and_prepare()
        for column, feature in (builder.info.features or {}).items():
            if require_storage_embed(feature):
                raise ValueError(f"column {column!r} holds pictures, sound or the like; only columns of text are read.")
        taken = choose_split([str(name) for name in builder.info.splits], split, or_only=or_only)
        return Table(Fields(builder.as_dataset(split=taken).to_dict()), config or hub_id, taken)


def _snapshot(hub_id: str) -> Path:
    """Return the downloaded folder of a data set's settings, whose name is the commit of the revision."""
    from huggingface_hub import snapshot_download

    name, revision = split_revision(hub_id)
    return Path(snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=[SETTINGS, INFOS]))


def _parse_settings(content: bytes) -> Settings:
    """Read configurations from the front matter of a README; refuse paths outside the folder."""
    import yaml

    try:
        front = re.match(r"\s*---\s*\n(.*?)\n---\s*(\n|$)", content.decode().replace("\r\n", "\n"), re.S)
        settings = yaml.safe_load(front[1] if front else "") or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{SETTINGS}: its settings are not YAML ({error}).") from None
    _require_no_names_file(SETTINGS, settings)
    configs = settings.get("configs", []) if isinstance(settings, dict) else None
    if not isinstance(configs, list) or not all(isinstance(entry, dict) for entry in configs):
        raise ValueError(f"{SETTINGS}: its settings must map the name configs to a list of configurations.")
    for entry in configs:
        for pattern in (str(entry.get("data_dir", "")), *itertools.chain(*_patterns(SETTINGS, entry).values())):
            path = PureWindowsPath(pattern)  # splits at both slashes
            if "://" in pattern or "::" in pattern or path.anchor or ".." in path.parts:
                raise ValueError(
                    f"{SETTINGS} says to read {pattern!r}, which is outside the folder. Only files in the folder are "
                    f"read: correct {SETTINGS}, or copy the file into the folder."
                )
    return {str(entry.get("config_name", "default")): entry for entry in configs}


def _require_no_names_file(name: str, settings: object) -> None:
    if "names_file" in str(settings):  # ``datasets`` opens the file of this key, also outside the folder
        raise ValueError(f"{name}: names_file is not read; write the names of the classes out.")


def _patterns(source: str, entry: Mapping[str, object]) -> dict[str, list[str]]:
    """Return the paths and glob patterns of a configuration's data files, by split."""
    files = entry.get("data_files", [])
    if isinstance(files, list) and files and all(isinstance(item, dict) for item in files):
        files = {item.get("split"): item.get("path") for item in files}
    by_split = files if isinstance(files, dict) else {"train": files} if files else {}
    patterns: dict[str, list[str]] = {}
    for split, paths in by_split.items():
        listed = [paths] if isinstance(paths, str) else paths
        if not isinstance(listed, list) or not all(isinstance(path, str) for path in listed):
            raise ValueError(f"{source}: data_files must be a path, a list of paths, or paths by split.")
        patterns[str(split)] = listed
    return patterns


def _files_by_split(folder: Path, entry: Mapping[str, object]) -> dict[str, list[Path]]:
    """Return the tables of each split: those in the settings, else all in the folder and its subfolders."""
    base = folder / str(entry.get("data_dir", ""))
    by_split: dict[str, list[Path]] = {}
    for split, patterns in _patterns(folder.name, entry).items():
        for pattern in patterns:
            path = base / pattern
            files = [path] if path.exists() or path.is_symlink() else sorted(base.glob(pattern))
            if not files:
                raise ValueError(f"its settings name {pattern!r}, and there is no such file.")
            by_split.setdefault(split, []).extend(files)
    if not by_split:
        for file in sorted(base.rglob("*")):
            inner = file.relative_to(base)
            if kind_of(file) and not file.is_dir() and not any(part.startswith((".", "__")) for part in inner.parts):
                by_split.setdefault(_split_of(inner), []).append(file)
        if not by_split:
            raise ValueError(f"no table in it; give {', '.join(READERS)}, or one of them .gz.")
        rest = by_split.pop("", [])  # files that belong to no split
        by_split = by_split or {"train": rest}
    for file in (file for files in by_split.values() for file in files):
        require_inside(folder, file)
    return by_split


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


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    import datasets
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    datasets_bars, hub_bars = datasets.is_progress_bar_enabled(), not are_progress_bars_disabled()
    verbosity = datasets.logging.get_verbosity()
    datasets.logging.set_verbosity(logging.CRITICAL)
    datasets.disable_progress_bars()
    disable_progress_bars()
    try:
        yield
    finally:
        datasets.logging.set_verbosity(verbosity)
        if datasets_bars:
            datasets.enable_progress_bars()
        if hub_bars:
            enable_progress_bars()
