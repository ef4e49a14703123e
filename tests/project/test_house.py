"""Which room may import which: the arrows of the data flow, stated once and read off every import, lazy ones too."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("helpers", "notebooks/kit", "docs/site")
SUPPORT = {f"helpers.{name}" for name in ("_io", "_hub", "_optional", "_scripts", "_trec_order")}
EVERY_STEP = {"helpers.data", "helpers.models", "helpers.embeddings", "helpers.index", "helpers.metrics"}

# A room, and the rooms that it may import beside itself and the support modules.
ARROWS: dict[str, set[str]] = {
    **{module: set() for module in SUPPORT},
    "helpers": set(),
    "helpers.data": set(),
    "helpers.models": {"helpers.data.formats"},
    "helpers.embeddings": {"helpers.models"},
    "helpers.index": set(),
    "helpers.distributed": {"helpers.models", "helpers.embeddings", "helpers.index"},
    "helpers.metrics": set(),
    "helpers.plain": set(),
    "helpers.commands": set(),  # imports by name what it runs
    "helpers.significance": {"helpers.plain"},
    "helpers.exercises": set(),
    "helpers.judgements": {"helpers.data", "helpers.metrics", "helpers.significance"},
    "helpers.judgements.__main__": EVERY_STEP | {"helpers.judgements", "helpers.systems"},
    "helpers.chunks": {"helpers.data"},
    "helpers.answers": {"helpers.data", "helpers.judgements", "helpers.significance"},
    "helpers.systems": EVERY_STEP,
    "helpers.training": {"helpers.data", "helpers.metrics", "helpers.significance"},
    "helpers.provenance": {"helpers.data", "helpers.models"},
    "helpers.show": EVERY_STEP | {"helpers.significance"},
    "helpers.report": EVERY_STEP
    | {"helpers.chunks", "helpers.significance", "helpers.systems", "helpers.show", "helpers.provenance"},
    "notebooks.kit": {"helpers.embeddings"},  # the files of vectors, which the recorder moves by noise
    "docs.site": {
        *("notebooks.kit", "helpers.index.words", "helpers.metrics", "helpers.show.palette", "helpers.show.vector"),
        "docs.site.dense",
    },
    "docs.site.dense": {"docs.site", "helpers.models"},  # packs the bundled models for a page
}


def modules() -> dict[str, Path]:
    """Every module of the house, by its dotted name."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    dotted = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in files}
    return {name.removesuffix(".__init__"): path for name, path in dotted.items()}


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules that one imports, wherever in it: inside functions and under TYPE_CHECKING too."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            base = ".".join(filter(None, [above if node.level else "", node.module or ""]))
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base


def room(name: str) -> str:
    """Return the room a module belongs to: the longest of ARROWS that its name begins with."""
    return max((r for r in ARROWS if name == r or name.startswith(f"{r}.")), key=len)


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Every module, and the modules of the house and of tests that it imports."""
    known = modules()
    inside = ("helpers", "notebooks", "docs", "tests")
    return {
        name: {target for target in imports(name, path, known) if target.split(".")[0] in inside}
        for name, path in known.items()
    }


def test_rooms_import_only_what_they_may(graph):
    """A step that reaches for a later one, or a tool for the package it checks, would tie the house into a knot."""
    wrong = [
        f"{name} -> {target}"
        for name, targets in graph.items()
        for target in sorted(targets)
        if target.split(".")[0] == "tests"
        or (
            room(target) not in {room(name), *SUPPORT}
            and not any(target == allowed or target.startswith(f"{allowed}.") for allowed in ARROWS[room(name)])
        )
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle(graph):
    """In a circle no module can be understood, or loaded, before another."""
    TopologicalSorter(graph).prepare()  # the error names them
