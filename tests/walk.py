"""How many functions of the package a piece of data goes through: `python -m tests.walk [--names]`.

For each walk the different functions of `helpers` that are entered, and in how many modules; with `--names` these in
the order in which they are first entered.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import pyarrow as pa
import pyarrow.parquet as pq

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.models import load_model
from helpers.report import compare
from helpers.report import main as report
from tests.checkpoints import save_checkpoint
from tests.data.files import beir

ROOT = Path(__file__).parents[1] / "helpers"


class Walk:
    """The functions of the package that a call enters."""

    def __init__(self) -> None:
        """Begin with none."""
        self.entered: dict[tuple[str, str], int] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call, for `sys.setprofile`; comprehensions and lambdas are part of the function they are in."""
        module = self.module(frame.f_code)
        if event != "call" or module is None or frame.f_code.co_name.startswith("<"):
            return
        key = (module, frame.f_code.co_qualname)
        self.entered[key] = self.entered.get(key, 0) + 1

    @staticmethod
    def module(code: CodeType) -> str | None:
        """Name the module of the package that code belongs to; None for other code."""
        path = Path(code.co_filename)
        return path.relative_to(ROOT).with_suffix("").as_posix() if path.is_relative_to(ROOT) else None


def walk(name: str, function: Callable[[], object]) -> None:
    """Call a function and print the walk."""
    steps = Walk()
    sys.setprofile(steps)
    try:
        function()
    finally:
        sys.setprofile(None)
    modules = dict.fromkeys(module for module, _ in steps.entered)
    print(f"{name}: {len(steps.entered)} functions, {len(modules)} modules")
    for module in modules if "--names" in sys.argv else ():
        print(f"    {module}: {', '.join(function for m, function in steps.entered if m == module)}")


def main() -> None:
    """Take the walks: data, a model, texts, a comparison, the report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(pa.table({"query": ["one", "two"], "positive": ["uno", "dos"]}), folder / "two.parquet")
        walk("a Parquet file of two rows", lambda: load_dataset(folder / "two.parquet"))
        walk("a folder of BEIR", lambda: load_dataset(beir(folder / "beir")))
        data, model = load_dataset("pocket-en", max_queries=5, corpus_queries=20), load_model()
        walk("load_model of a folder", lambda: load_model(save_checkpoint(folder / "model"), backend="transformers"))
        walk("texts, encoded cold", lambda: encode(model, data.corpus, cache_dir=folder / "cache", progress=False))
        walk("compare BM25 and MiniLM", lambda: compare(["bm25", load_model()], data))
        arguments = ["--model", "bm25", "--system", "tfidf", "--quiet", "--out", str(folder / "report")]
        walk("the report of BM25 and TF-IDF", lambda: report(arguments))


if __name__ == "__main__":
    main()
