"""What the settings of a data folder say, looked at before ``datasets`` follows them.

``README.md`` and ``.huggingface.yaml`` name the files to read, by path, pattern or address, and with
``dataset_infos.json`` what their columns hold. Resolving an address already reaches out: so the names are read first.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

from helpers._printable import one_line
from helpers.data import safety

FILES = ("README.md", ".huggingface.yaml", "dataset_infos.json")
DEEPEST = 50


def require_own_settings(folder: Path) -> list[str]:
    """Return the configurations that the settings of a folder name; raise where they are written to harm.

    Raises:
        ValueError: a name that leads elsewhere, settings that are not YAML or no mapping, aliases, deep nesting,
            ``names_file``.
    """
    found: list[str] = []
    for name in FILES:
        path = folder / name
        if path.exists() or path.is_symlink():
            safety.require_own_file(folder, path)
            found += check_settings(name, path.read_bytes())
    return found


def check_settings(name: str, content: bytes) -> list[str]:
    """Return the configurations that a file of settings names; raise where it is written to harm.

    Raises:
        ValueError: as :func:`require_own_settings`.
    """
    settings = safety.parse_json(content, name) if name.endswith(".json") else _read_yaml(name, content)
    if not isinstance(settings, dict):
        raise ValueError(f"{name}: its settings are no mapping of names to values.")
    safety.require_no_names_file(settings, name)
    for file in _named_files(settings):
        path = PureWindowsPath(file)  # knows both slashes
        if "://" in file or "::" in file or path.anchor or ".." in path.parts:
            raise ValueError(
                f"{name} says to read {file!r}, which is outside the folder. Only files in the folder are read: "
                f"correct {name}, or copy the file into the folder."
            )
    configs = settings.get("configs")
    names = (
        [entry.get("config_name") for entry in configs if isinstance(entry, dict)] if isinstance(configs, list) else []
    )
    return [name for name in names if isinstance(name, str)]


def _named_files(settings: dict[str, Any]) -> Iterator[str]:
    """Yield every path, pattern or address that settings name as data."""
    configs = settings.get("configs")
    for entry in configs if isinstance(configs, list) else []:
        for key in ("data_files", "data_dir"):
            for value in safety.within(entry.get(key) if isinstance(entry, dict) else None):
                if isinstance(value, str):
                    yield value


def _read_yaml(name: str, content: bytes) -> object:
    """Read the front matter of a README, or a file of YAML alone; an empty mapping if there is none.

    Depth and aliases are looked at in the stream of events, before anything is built: a few lines of aliases to
    aliases stand for more values than any memory holds.
    """
    import yaml
    from huggingface_hub.repocard import REGEX_YAML_BLOCK  # what datasets takes for front matter

    try:
        text = content.decode("utf-8")
        if name.endswith(".md"):
            front = REGEX_YAML_BLOCK.search(text)
            text = front[2] if front else ""
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
                raise ValueError(f"{name}: its settings have aliases, or are nested deeper than {DEEPEST} levels.")
        settings = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        first = re.split(r"[\r\n]", str(error))[0]
        raise ValueError(f"{name}: its settings are not YAML ({one_line(first)}).") from None
    return {} if settings is None else settings
