"""Read through Hugging Face ``datasets``: one file, a folder in the hub's layout, or a data set of the hub."""

import contextlib
import logging
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from helpers._hub import hub_or_local_cache, offline
from helpers.data import safety, settings
from helpers.data.splits import choose_split


def read_file(path: Path, reader: str, **options: object) -> Any:
    """Read one file by the reader ``json``, ``csv`` or ``parquet`` of ``datasets``, with its options.

    The shared cache of ``datasets`` would give an earlier version of a file; so each reading gets a cache of its own.
    """
    import datasets

    with _quietly(), offline(), tempfile.TemporaryDirectory() as cache:
        builder = datasets.load_dataset_builder(reader, data_files=_literal(path), cache_dir=cache, **options)
        return _prepare(builder, "train", path.name, in_memory=True)


def read_folder(
    folder: Path,
    config: str | None,
    split: str | None,
    *,
    or_only: bool | None = None,
    read_csv: Callable[[Path], Any] | None = None,
) -> Any:
    """Read a folder in the hub's layout, anew each time: the shared cache knows folders by name alone.

    The split is the first if None; ``or_only`` is that of :func:`helpers.data.splits.choose_split`. ``read_csv`` reads
    CSV and TSV files that the settings say nothing special of: ``datasets`` would make a 7 of the id ``007``.

    Raises:
        ValueError: settings or links that lead outside the folder, a column of something else than text, no such
            split, a path that holds ``*``, ``?`` or ``[``, which ``datasets`` takes for a pattern.
    """
    import datasets

    folder = folder.resolve()
    if pattern := re.search(r"[*?\[]", str(folder)):
        raise ValueError(
            f"the path of the folder holds {pattern[0]!r}, which stands for a pattern there; rename the folder, "
            "or name the file in it."
        )
    if (folder / "state.json").exists():
        raise ValueError("it was written by save_to_disk; write it with to_parquet or to_json instead.")
    settings.require_own_settings(folder)
    safety.require_own_links(folder)
    with _quietly(), offline(), tempfile.TemporaryDirectory() as cache:
        builder = datasets.load_dataset_builder(str(folder), config, cache_dir=cache)
        _require_text(builder)
        for file in _data_files(builder):
            safety.require_own_file(folder, Path(file))
            safety.require_plain_file(Path(file), builder.name)
        if read_csv is not None and _is_usual_csv(builder) and not _is_part(split):
            return _read_each(builder, split, or_only, read_csv)
        return _prepare(builder, split, folder.name, in_memory=True, or_only=or_only)


def read_hub(
    hub_id: str, config: str | None, split: str | None, offline_default: str, *, or_only: bool | None = None
) -> Any:
    """Read a data set of the hub, or what an earlier download left of it; the first split if None.

    Raises:
        ValueError: it names files outside its repository, or has a column of something else than text.
        ConnectionError: the hub cannot be reached and nothing was downloaded before.
    """
    import datasets

    with _quietly():
        with hub_or_local_cache(f"the data set {hub_id!r}", offline_default):
            _check_settings_on_hub(hub_id)
            builder = datasets.load_dataset_builder(hub_id, config)
            if builder.config.data_files is not None:
                _require_text(builder)
            for file in _data_files(builder):
                if not file.lower().startswith(f"hf://datasets/{hub_id.lower()}@") or "::" in file:
                    raise ValueError(f"it names {Path(file).name!r}, which is outside its repository.")
            builder.download_and_prepare()
        return _prepare(builder, split, hub_id, in_memory=False, or_only=or_only)


def configurations(source: Path | str, offline_default: str) -> list[str]:
    """List the configurations that the settings of a folder or of a data set of the hub name; none without settings.

    Raises:
        ValueError: settings that name files elsewhere, or are written to harm.
        ConnectionError: as :func:`read_hub`.
    """
    if isinstance(source, Path):
        return settings.require_own_settings(source.resolve())
    with hub_or_local_cache(f"the data set {source!r}", offline_default):
        return _check_settings_on_hub(source)


def _prepare(builder: Any, split: str | None, name: str, *, in_memory: bool, or_only: bool | None = None) -> Any:
    """Make the table of one split, and see that it holds nothing but text."""
    safety.require_plain_columns(builder.info.features or {}, name)
    builder.download_and_prepare()
    safety.require_plain_columns(builder.info.features or {}, name)
    taken = _taken([str(name) for name in builder.info.splits], split, or_only)
    table = builder.as_dataset(split=taken, in_memory=in_memory)
    safety.require_plain_columns(table.features, name)
    return table


def _taken(splits: list[str], split: str | None, or_only: bool | None) -> str:
    """Name the split to take, the first if None, or raise."""
    if split is not None and _is_part(split):  # a part of a split, in the notation of datasets: "train[:100]"
        return split
    taken = splits[0] if split is None else choose_split(splits, split, or_only=or_only)
    if taken is None:
        raise ValueError(f"no split {split!r}; it has {', '.join(splits)}.")
    return taken


def _is_part(split: str | None) -> bool:
    """Tell whether the notation of ``datasets`` names a part of a split, or several splits."""
    return split is not None and any(mark in split for mark in "[+")


def _is_usual_csv(builder: Any) -> bool:
    """Tell whether a folder holds nothing but CSV and TSV files, written in no way of their own."""
    wanted, usual = builder.config, type(builder.config)(name=builder.config.name)
    options = ("names", "column_names", "header", "skiprows", "encoding", "quotechar", "quoting", "features", "version")
    return (
        builder.name == "csv"
        and builder.info.features is None
        and wanted.sep in (",", "\t")
        and all(getattr(wanted, option) == getattr(usual, option) for option in options)
        and all(re.search(r"\.[ct]sv(\.gz)?$", file, re.I) for file in _data_files(builder))
    )


def _read_each(builder: Any, split: str | None, or_only: bool | None, read: Callable[[Path], Any]) -> Any:
    """Read the files of one split one by one, and put them together."""
    import datasets

    files = {str(name): found for name, found in builder.config.data_files.items()}
    taken = _taken(list(files), split, or_only)
    whole = datasets.concatenate_datasets([read(Path(file)) for file in files[taken]])
    return datasets.Dataset(whole.data, split=datasets.NamedSplit(taken))


def _check_settings_on_hub(hub_id: str) -> list[str]:
    """Return the configurations of a data set of the hub; raise where its settings name files elsewhere."""
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    found: list[str] = []
    for name in settings.FILES:
        with contextlib.suppress(EntryNotFoundError):  # or not among what an earlier download left
            path = huggingface_hub.hf_hub_download(hub_id, name, repo_type="dataset")
            found += settings.check_settings(name, Path(path).read_bytes())
    return found


def _require_text(builder: Any) -> None:
    """Raise unless the files of a data set are of a kind that holds tables of text."""
    if builder.name not in safety.KINDS:
        raise ValueError(f"its files are of the kind {builder.name!r}; give JSONL, JSON, CSV, TSV or Parquet.")
    encoding = str(getattr(builder.config, "encoding", None) or "utf-8")
    if builder.name == "json" and encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig"):
        raise ValueError(f"its settings say encoding={encoding!r}; JSON is read as UTF-8 alone.")


def _data_files(builder: Any) -> list[str]:
    """Return the files that a data set is read from."""
    return [str(file) for files in (builder.config.data_files or {}).values() for file in files]


def _literal(path: Path) -> str:
    """Write a path so that ``datasets`` takes none of its characters for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.resolve()))


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep the bars of ``datasets`` out of the lessons, and its log, which repeats names of files as they are.

    What it logs of a file that cannot be read is in its error too.
    """
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
