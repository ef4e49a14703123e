"""Read docs/checks.toml: exceptions that the checks accept, each for one cell and with its reason.

    ["01_evaluation".cells]      # outputs spared from the comparison: volatile, or with a tolerance such as atol=0.01
    device = ["volatile", "names the device, which differs"]
    ["01_evaluation".chinese]    # the same for the Chinese lesson, where it has a record of its own

The YAML files beside it are read here too.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from .notebooks import NotebookError, Problem

FILE = "docs/checks.toml"
SECTIONS = ("cells", "chinese")
Listed = dict[str, dict[str, dict[str, list[str]]]]


@lru_cache(maxsize=8)
def _read(path: Path, _changed: float) -> Listed:
    try:
        lists: Listed = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise NotebookError(f"{FILE} is not valid TOML ({error}): correct that line") from error
    for text, sections in lists.items():
        for section, entries in sections.items():
            if section not in SECTIONS:
                raise NotebookError(f"{FILE}: '{text}' has '{section}'; there are {', '.join(SECTIONS)}")
            for cell, entry in entries.items():
                if not (isinstance(entry, list) and len(entry) == 2 and str(entry[1]).strip()):
                    raise NotebookError(f'{FILE}: {text}, {cell}: write ["what", "the reason"], got {entry!r}')
    return lists


@lru_cache(maxsize=16)
def _yaml(path: Path, _changed: int) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file, which is read again only when it has changed."""
    return _yaml(path, path.stat().st_mtime_ns)


def editions(root: Path, name: str) -> tuple[str, ...]:
    """Return the languages in which a lesson is executed and recorded; the Chinese of the others has English outputs.

    docs/lessons.yml names the lessons whose Chinese edition runs on Chinese data, under `chinese`.
    """
    path = root / "docs" / "lessons.yml"
    own = path.exists() and name in read_yaml(path).get("chinese", ())
    return ("en", "zh") if own else ("en",)


def home(root: Path) -> tuple[str, str]:
    """Return the repository of pyproject.toml, and the tag or branch that addresses in it name; empty without it."""
    if not (path := root / "pyproject.toml").exists():
        return "", ""
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    return settings["project"]["urls"]["Repository"].rstrip("/"), settings["tool"]["release"]["tag"] or "main"


def _lists(root: Path) -> Listed:
    path = root / FILE
    return _read(path, path.stat().st_mtime_ns) if path.exists() else {}


def listed(root: Path, text: str, section: str) -> dict[str, str]:
    """Return the entries of a section for a lesson or page, by cell (`page` for a page); empty without the file."""
    return {cell: entry[0] for cell, entry in _lists(root).get(text, {}).get(section, {}).items()}


def idle(root: Path, cells: Mapping[str, Iterable[str]]) -> Iterator[Problem]:
    """Yield a problem for each entry that is for no lesson, page or cell; cells are those of each lesson and page."""
    for text, sections in sorted(_lists(root).items()):
        known = set(cells.get(text, ()))
        for section, entries in sections.items():
            for cell in sorted(set(entries) - known):
                place = f"no cell '{cell}'" if text in cells else "no such lesson or page"
                yield Problem(FILE, "", "listed", f"{text}, {section}: {place}: delete or correct the entry")
