"""A folder in the hub's layout, read by our own readers, or a data set of the hub, loaded by ``datasets``.

``README.md`` or ``.huggingface.yaml`` name configurations and their files; without them the names of the files say
which split each belongs to. What they name must be in the folder, or in the repository.
"""

import contextlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

from helpers._files import plain_name, require_inside
from helpers._hub import hub_or_local_cache
from helpers.data.columns import DEV, Cell, Table, choose_split
from helpers.data.formats import READERS, kind_of, read_table

SETTINGS = ("README.md", ".huggingface.yaml")
ROLES = ("corpus", "queries", "qrels")
SPLITS = {
    "train": ("train", "training"),
    "validation": DEV,
    "test": ("test", "testing", "eval", "evaluation"),
}  # the words in names of files
SHOWN = 20  # names in a message

Settings = dict[str, dict[str, Any]]  # the configurations by their names


def read_folder(folder: Path, config: str | None, split: str | None, named: set[str], *, or_only: bool | None) -> Table:
    """Read one split of a folder in the hub's layout, the first if ``split`` is None; ``train[:100]`` is a part of one.

    Raises:
        ValueError: no such configuration or split, no table, settings that cannot be read or lead outside the folder.
    """
    files = _files_of(folder, _configuration(folder_settings(folder), config))
    whole, part = split, None
    if split and (match := re.fullmatch(r"(.+)\[(-?\d*):(-?\d*)\]", split)):
        whole, part = match[1], slice(*(int(end) if end else None for end in match.groups()[1:]))
    taken = choose_split(list(files), whole, or_only=or_only)
    if taken is None:
        raise ValueError(f"no split {whole!r}; it has {', '.join(map(repr, files))}.")
    tables = [read_table(file, named) for file in files[taken]]
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns: dict[str, list[Cell]] = {
        name: [cell for table in tables for cell in table.columns.get(name, [None] * table.rows)] for name in names
    }
    if part:
        columns, taken = {name: column[part] for name, column in columns.items()}, str(split)
    return Table(columns, taken)


def read_hub(
    hub_id: str, config: str | None, split: str | None, offline_default: str, *, or_only: bool | None
) -> Table:
    """Read one split of a data set of the hub, or what an earlier download left of it; the first if ``split`` is None.

    Raises:
        ValueError: no such split, files outside the repository, a column of pictures, sound and the like.
        ConnectionError: the hub cannot be reached and nothing was downloaded before.
    """
    import datasets

    with _quietly():
        with hub_or_local_cache(f"the data set {hub_id!r}", offline_default):
            _configuration(_settings_on_hub(hub_id), config)
            builder = datasets.load_dataset_builder(hub_id, config)
            files = [str(file) for some in (builder.config.data_files or {}).values() for file in some]
            for file in files:
                if not file.lower().startswith(f"hf://datasets/{hub_id.lower()}@") or "::" in file:
                    raise ValueError(f"it names {Path(file).name!r}, which is outside its repository.")
            builder.download_and_prepare()
        for name, feature in (builder.info.features or {}).items():
            if kinds := _kinds(feature) - {"Value", "ClassLabel", "Json", "List", "LargeList", "Sequence"}:
                raise ValueError(f"column {name!r} holds {kinds.pop()} data, not text; only columns of text are read.")
        splits = [str(name) for name in builder.info.splits]
        is_part = split is not None and any(mark in split for mark in "[+")  # "train[:100]", in datasets' notation
        taken = split if is_part else choose_split(splits, split, or_only=or_only)
        if taken is None:
            raise ValueError(f"no split {split!r}; it has {', '.join(map(repr, splits))}.")
        table = builder.as_dataset(split=taken)
        return Table(table.to_dict(), str(taken))


def folder_settings(folder: Path) -> Settings:
    """Read the configurations of a folder; none without settings.

    Raises:
        ValueError: settings that cannot be read, or name files outside the folder.
    """
    found: Settings = {}
    for name in SETTINGS:
        path = folder / name
        if path.exists() or path.is_symlink():
            require_inside(folder, path)
            found |= parse_settings(name, path.read_bytes())
    return found


def hub_settings(hub_id: str, offline_default: str) -> Settings:
    """Read the configurations of a data set of the hub.

    Raises:
        ValueError, ConnectionError: as :func:`read_hub`.
    """
    with hub_or_local_cache(f"the data set {hub_id!r}", offline_default):
        return _settings_on_hub(hub_id)


def parse_settings(name: str, content: bytes) -> Settings:
    """Read configurations from the front matter of a README, or from a file of YAML.

    Raises:
        ValueError: not YAML, another form, a path that leads elsewhere, ``names_file``, which ``datasets`` would open.
    """
    import yaml

    try:
        text = content.decode().replace("\r\n", "\n")
        if name.endswith(".md"):
            front = re.match(r"\s*---\s*\n(.*?)\n---\s*(\n|$)", text, re.S)
            text = front[1] if front else ""
        settings = yaml.safe_load(text) or {}
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{name}: its settings are not YAML ({str(error).splitlines()[0]!r}).") from None
    if re.search(r"\bnames_file\b", text):
        raise ValueError(f"{name}: names_file is not read; write the names of the classes out.")
    configs = settings.get("configs", []) if isinstance(settings, dict) else None
    if not isinstance(configs, list) or not all(isinstance(entry, dict) for entry in configs):
        raise ValueError(f"{name}: its settings must map the name configs to a list of configurations.")
    for entry in configs:
        for pattern in (str(entry.get("data_dir", "")), *(p for some in _patterns(name, entry).values() for p in some)):
            path = PureWindowsPath(pattern)  # knows both slashes
            if "://" in pattern or "::" in pattern or path.anchor or ".." in path.parts:
                raise ValueError(
                    f"{name} says to read {pattern!r}, which is outside the folder. Only files in the folder are read: "
                    f"correct {name}, or copy the file into the folder."
                )
    return {str(entry.get("config_name", "default")): entry for entry in configs}


def choose_roles(names: Sequence[str], wanted: str | None, shown: str) -> dict[str, str] | None:
    """Return the configurations of ``corpus``, ``queries`` and perhaps ``qrels`` that belong together.

    ``mteb`` names those of a language ``zh-corpus``, ``zh-queries``, ``zh-qrels`` (MIRACLRetrieval, MintakaRetrieval,
    MultiLongDocRetrieval and others); the name may stand behind as well, ``corpus-zh``. Judgements may be the
    configuration ``default``, or missing. None where the one wanted, or the data set, is a table of rows.

    Raises:
        ValueError: there are several and none was named, or none of the name given; the message lists what there is.
    """
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        match = re.fullmatch(rf"(?:(.+)[-_])?({'|'.join(ROLES)})(?:[-_](.+))?", name)
        if match and not (match[1] and match[3]):
            groups.setdefault(match[1] or match[3] or "", {})[match[2]] = name
    if "" in groups and "default" in names:
        groups[""].setdefault("qrels", "default")
    groups = {name: roles for name, roles in groups.items() if {"corpus", "queries"} <= set(roles)}
    if wanted is None:
        if groups and "" not in groups:
            first = next(iter(groups))
            raise ValueError(
                f"{shown!r} holds {len(groups)} collections: {_listed(list(groups))}. Choose one: config={first!r}, "
                f"on the command line --config {first!r}."
            )
        return groups.get("")
    if wanted in groups or wanted in names:
        return groups.get(wanted)
    if not names:
        raise ValueError(f"{shown!r} has no configurations to choose from; leave out config={wanted!r}.")
    listed = _listed([name for name in groups if name] or list(names))
    raise ValueError(f"{shown!r} has no configuration {wanted!r}; it has {listed}.")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more


def _configuration(settings: Settings, config: str | None) -> dict[str, Any]:
    """Return the settings of a configuration, by default the one called ``default`` or the only one."""
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


def _patterns(where: str, entry: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the paths and patterns that a configuration names as data, by split."""
    files = entry.get("data_files", [])
    if isinstance(files, list) and files and all(isinstance(item, dict) for item in files):
        files = {item.get("split"): item.get("path") for item in files}
    by_split = files if isinstance(files, dict) else {"train": files} if files else {}
    patterns = {split: [paths] if isinstance(paths, str) else paths for split, paths in by_split.items()}
    for split, paths in patterns.items():
        if not isinstance(split, str) or not isinstance(paths, list) or not all(isinstance(p, str) for p in paths):
            raise ValueError(f"{where}: data_files must be a path, a list of paths, or paths by split.")
    return patterns


def _files_of(folder: Path, entry: Mapping[str, Any]) -> dict[str, list[Path]]:
    """Return the tables of each split."""
    base = folder / str(entry.get("data_dir", ""))
    found: dict[str, list[Path]] = {}
    for split, patterns in _patterns(folder.name, entry).items():
        for pattern in patterns:
            path = base / pattern
            files = [path] if path.exists() or path.is_symlink() else sorted(base.glob(pattern))
            if not files:
                raise ValueError(f"its settings name {pattern!r}, and there is no such file.")
            found.setdefault(split, []).extend(files)
    if not found:
        found = _by_name(base)
    for file in (file for files in found.values() for file in files):
        require_inside(folder, file)
    return found


def _by_name(base: Path) -> dict[str, list[Path]]:
    """Return the tables below a folder by the splits that their names, or those of their folders, say."""
    files = [file for file in sorted(base.rglob("*")) if kind_of(file) and not file.is_dir()]
    files = [file for file in files if not any(part.startswith((".", "__")) for part in file.relative_to(base).parts)]
    if not files:
        raise ValueError(f"no table in it; give {', '.join(READERS)}, or one of them .gz.")
    by_split: dict[str, list[Path]] = {}
    for file in files:
        by_split.setdefault(_split_of(file.relative_to(base)), []).append(file)
    if len(by_split) > 1:
        by_split.pop("", None)  # files that belong to no split
    return {split or "train": files for split, files in by_split.items()}


def _split_of(path: Path) -> str:
    """Name the split of a file: the word in its name or its folder's, or what is before ``-00000-of-00001``."""
    if shard := re.fullmatch(r"(.+)-\d{5}-of-\d{5}", Path(plain_name(path)).stem):
        return shard[1]
    for part in (plain_name(path), *path.parts[-2::-1]):
        words = re.split(r"[^a-z]+", part.lower())
        for split, spellings in SPLITS.items():
            if set(words) & set(spellings):
                return split
    return ""


def _settings_on_hub(hub_id: str) -> Settings:
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    found: Settings = {}
    for name in (*SETTINGS, "dataset_infos.json"):
        with contextlib.suppress(EntryNotFoundError):  # or not among what an earlier download left
            content = Path(huggingface_hub.hf_hub_download(hub_id, name, repo_type="dataset")).read_bytes()
            if name in SETTINGS:
                found |= parse_settings(name, content)
            elif b"names_file" in content:
                raise ValueError(f"{name}: names_file is not read; write the names of the classes out.")
    return found


def _kinds(feature: Any) -> set[str]:
    """Name the types of a feature of ``datasets`` and of those in it."""
    inner = feature.values() if isinstance(feature, dict) else feature if isinstance(feature, list) else ()
    inner = [feature.feature] if hasattr(feature, "feature") else inner
    own = set() if isinstance(feature, dict | list) else {type(feature).__name__}
    return own.union(*map(_kinds, inner))


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep the bars and the log of ``datasets`` out of the lessons; what it logs is in its errors too."""
    import datasets

    had_bars, verbosity = datasets.is_progress_bar_enabled(), datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        datasets.logging.set_verbosity(verbosity)
        if had_bars:
            datasets.enable_progress_bars()
