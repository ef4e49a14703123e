"""Read docs/checks.toml: exceptions that the checks accept, each for one cell and with its reason.

    ["01_evaluation".cells]      # outputs spared from the comparison: volatile, or with a tolerance such as atol=0.01
    device = ["volatile", "names the device, which differs"]
    ["01_evaluation".chinese]    # the same for the Chinese lesson, where it has a record of its own

The YAML files beside it are read here too.
"""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from .notebooks import NotebookError

FILE = "docs/checks.toml"


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


def listed(root: Path, lesson: str, section: str) -> dict[str, str]:
    """Return the entries of a section for a lesson, by cell; none without the file. Raises NotebookError."""
    path = root / FILE
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {cell: what for cell, (what, _) in entries.get(lesson, {}).get(section, {}).items()}
    except (tomllib.TOMLDecodeError, ValueError) as error:
        form = 'an entry is CELL = ["what", "the reason"]'
        raise NotebookError(f"{FILE}: {lesson}, {section} cannot be read ({error}): {form}") from error
