"""Does the check notice a false statement? `python -m tests.false_changes` makes some, one at a time, and counts.

A change is drawn at random from the text of a lesson, a page or a README: another number, number word, comparative or
name, two table cells swapped, another formula. It is made in English (and then accepted as translated, as a careless
translator would) or in Chinese. It is caught if `check` says something new, a problem or a hint. What escapes is
printed, to be judged by eye: some changes are not false.

    python -m tests.false_changes --seed 7 --each 20
"""

import argparse
import itertools
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from notebooks.kit import check as checking
from notebooks.kit.cells import by_id, cell_hash
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read
from notebooks.kit.translation import page_pairs
from notebooks.kit.wording import NAME
from tests.sample import edit

COPIED = ("notebooks", "docs", "README.md", "README_zh.md", "constraints.txt", "helpers/data/bundled")
HIDDEN = re.compile(r"<!--.*?-->|```.*?```|\]\([^)]*\)|https?://\S+|^\[[^\]]+\]:.*$|^#+ .*$", re.S | re.M)
FORMULA = re.compile(r"\$\$.+?\$\$|(?<![\\$])\$(?!\s)[^$\n]+?\$", re.S)
OPPOSITES = (
    "higher lower|highest lowest|better worse|best worst|more fewer|most fewest|larger smaller|largest smallest"
    "|longer shorter|faster slower"
    "|高于 低于|更高 更低|更好 更差|最好 最差|更多 更少|最多 最少|更大 更小|更长 更短|更快 更慢"
)
DIRECTIONS = (
    "above below|ahead behind|rises falls|rise fall|raises lowers"
    "|以上 以下|上升 下降|升到 降到|涨 跌|领先 落后|好于 不如"
)
SPOKEN = (
    "one two three four five six seven eight nine ten eleven twelve",
    "二 三 四 五 六 七 八 九",
    "third fourth fifth",
)
OTHER = {
    kind: {one: two for pair in text.split("|") for words in [pair.split()] for one, two in (words, words[::-1])}
    for kind, text in (("comparison", OPPOSITES), ("direction", DIRECTIONS))
}
OTHER["number word"] = {word: line.split()[at - 1] for line in SPOKEN for at, word in enumerate(line.split())}


class Spot(NamedTuple):
    """A place in a text: the text's name, its language, its cell (none for a page), the words there and others."""

    text: str
    language: str
    cell: str
    start: int
    old: str
    new: str


class Tree:
    """A copy of the checkout that changes are made in and taken back."""

    def __init__(self, root: Path) -> None:
        """Copy what the check reads."""
        self.root = root
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, root / name)
        self.pages = {english.relative_to(root).as_posix(): (english, chinese) for english, chinese in page_pairs(root)}
        self.before = {text: self.problems(text) for text in [*lesson_names(root), "pages"]}

    def problems(self, text: str) -> set[str]:
        """Return what the check says of a lesson, or of all pages."""
        return {*map(str, checking.check(self.root, [text] if text in lesson_names(self.root) else None))}

    def texts(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield name, language, cell and Markdown of every text."""
        for name in lesson_names(self.root):
            for language in LANGUAGES:
                for cell in read(lesson_path(self.root, language, name), self.root).cells:
                    if cell.cell_type == "markdown":
                        yield name, language, cell.id, cell.source
        for name, pair in self.pages.items():
            for language, path in zip(LANGUAGES, pair, strict=True):
                yield name, language, "", path.read_text(encoding="utf-8")

    def write(self, spot: Spot) -> None:
        """Put other words at a place, and accept an English text as translated."""
        if not spot.cell:
            english, chinese = self.pages[spot.text]
            path = english if spot.language == "en" else chinese
            text = path.read_text(encoding="utf-8")
            path.write_text(text[: spot.start] + spot.new + text[spot.start + len(spot.old) :], encoding="utf-8")
            mark = f"<!-- translation of {spot.text}: {cell_hash(spot.text, english.read_text('utf-8'))} -->\n"
            chinese.write_text(
                re.sub(r"<!-- translation of .*? -->\n", mark, chinese.read_text("utf-8"), count=1), "utf-8"
            )
            return

        def change(book: NotebookNode) -> None:
            cell = by_id(book)[spot.cell]
            cell.source = cell.source[: spot.start] + spot.new + cell.source[spot.start + len(spot.old) :]

        edit(self.root, change, spot.language, name=spot.text)
        source = by_id(read(lesson_path(self.root, "en", spot.text), self.root))[spot.cell].source
        mark = {"of": cell_hash(spot.cell, source)}
        accept = lambda book: by_id(book)[spot.cell].metadata.update(translation=mark)  # noqa: E731
        edit(self.root, accept, "zh", name=spot.text)

    def restore(self) -> None:
        """Take all changes back."""
        for name in ("notebooks", "docs", "README.md", "README_zh.md"):
            for path in [ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"):
                copy = self.root / path.relative_to(ROOT)
                if path.suffix in (".md", ".ipynb", ".json", ".yml") and path.read_bytes() != copy.read_bytes():
                    shutil.copy(path, copy)


def _next_digit(number: str) -> str:
    """Return a number with another last digit."""
    return number[:-1] + str((int(number[-1]) + 1) % 10)


def spots(tree: Tree, kind: str, rng: random.Random) -> list[Spot]:
    """Return every place for a change of a kind in the prose, with what to put there."""
    every = []
    for text, language, cell, source in tree.texts():
        shown = HIDDEN.sub(lambda match: "\0" * len(match[0]), source)
        plain = shown if kind == "formula" else FORMULA.sub(lambda match: "\0" * len(match[0]), shown)
        plain = re.sub(r"`[^`\n]*`", lambda match: "\0" * len(match[0]), plain)
        named = sorted({match[0] for match in NAME.finditer(plain)})
        words: dict[str, str] = OTHER.get(kind, {})
        if kind == "number":
            numbers = re.finditer(r"(?<![\w.@/-])\d+(?:[.,]\d+)*(?![\w.@/-])", plain, re.A)
            made = [(m, _next_digit(m[0])) for m in numbers]
        elif words:
            ours = "|".join(word for word in words if word.isascii() == (language == "en"))
            after = "(?=[个种次条倍分])" if kind == "number word" else ""
            pattern = rf"\b(?:{ours})\b" if language == "en" else rf"(?:{ours}){after}"
            made = [(m, words[m[0]]) for m in re.finditer(pattern, plain)]
        elif kind == "name":
            made = [(m, rng.choice([n for n in named if n != m[0]])) for m in NAME.finditer(plain) if len(named) > 1]
        elif kind == "table cell":
            rows = [m for m in re.finditer(r"(?m)^\|.*\|$", source) if "---" not in m[0]]
            made = []
            for one, two in itertools.pairwise(rows):
                cells = one[0].split("|"), two[0].split("|")
                at = rng.randrange(1, max(len(cells[0]) - 1, 2))
                if two.start() == one.end() + 1 and len(cells[0]) == len(cells[1]) and cells[0][at] != cells[1][at]:
                    cells[0][at], cells[1][at] = cells[1][at], cells[0][at]
                    swapped = "\n".join(map("|".join, cells))
                    every.append(Spot(text, language, cell, one.start(), source[one.start() : two.end()], swapped))
        else:
            made = []
            for formula in FORMULA.finditer(plain):
                for m in re.finditer(r"\d|[+=]|(?<=[/\s{(])[kRn](?=[\s})/,])|\\min|\\le\b", formula[0]):
                    other = {"+": "-", "=": r"\le ", "k": "R", "R": "k", "n": "k", r"\min": r"\max", r"\le": r"\ge"}
                    put = _next_digit(m[0]) if m[0].isdigit() else other[m[0]]
                    every.append(Spot(text, language, cell, formula.start() + m.start(), m[0], put))
        every += [Spot(text, language, cell, m.start(), m[0], put) for m, put in made]
    return every


KINDS = ("number", "number word", "direction", "comparison", "name", "table cell", "formula")


def main() -> int:
    """Make the changes and print how many of each kind were caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.false_changes", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--each", type=int, default=14, help="changes of each kind (14)")
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    args = parser.parse_args()
    caught, tried = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder) / "copy")
        for kind in args.kinds:
            rng = random.Random(f"{args.seed} {kind}")
            places = spots(tree, kind, rng)
            for spot in (rng.choice(places) for _ in range(args.each)):
                tree.write(spot)
                name = spot.text if spot.text in tree.before else "pages"
                noticed = bool(tree.problems(name) - tree.before[name])
                tried[kind] += 1
                caught[kind] += noticed
                if not noticed:
                    where = f"{spot.language} {spot.text} [{spot.cell}]"
                    print(f"not caught, {kind}: {where}: {spot.old[:120]!r} → {spot.new[:120]!r}", flush=True)
                tree.restore()
    for kind in args.kinds:
        print(f"{caught[kind]:4} of {tried[kind]:3}  {kind}")
    print(f"{caught.total():4} of {tried.total():3}  ({caught.total() / tried.total():.0%})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
