"""Do the tests notice a fault in the code? `make mutants` puts small faults into helpers, one at a time, and counts.

A mutant is a module with one change: a comparison turned round, a check left out, a constant one larger. It is killed
if the module's own tests fail. What survives is printed with its place; `tests/mutants.toml` gives the reason for each
survivor that is known to behave like the original, and those do not count. (DeMillo, Lipton and Sayward 1978,
doi:10.1109/C-M.1978.218136.)

    python -m tests.mutants                     a sample of every module
    python -m tests.mutants helpers/metrics     modules whose path begins so
    python -m tests.mutants --seconds 600       in slices of ten minutes

Each result is added to build/mutants.jsonl as it comes: the mutant, the test that killed it, and the seconds it took.
What that file calls killed is not tried again, so that a run can be stopped and taken up; delete it to start anew.
"""

import argparse
import ast
import contextlib
import copy
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
COPIED = ("helpers", "tests", "notebooks", "docs", "pyproject.toml", "constraints.txt", "README.md", "README_zh.md",
          "environment.yml", "Makefile", "CITATION.cff", "LICENSE")  # fmt: skip
RESULTS = ROOT / "build" / "mutants.jsonl"
LIMIT = 300  # seconds a mutant may take: one that never ends counts as killed
LIBRARIES = ("numpy", "scipy.stats", "pandas", "matplotlib.pyplot", "torch", "faiss", "transformers", "datasets",
             "pytrec_eval", "safetensors.torch", "bm25s", "IPython.display", "filelock", "FlagEmbedding", "nbformat",
             "nbconvert", "papermill", "hypothesis.strategies", "sklearn.feature_extraction.text", "yaml")  # fmt: skip
SETTINGS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1",
            "MPLBACKEND": "agg"}  # fmt: skip
OWN_TESTS = {  # which tests are a module's own, the quick ones first, where they are not its mirror and its folder
    "helpers/chunks.py": ["tests/chunks/test_chunks.py"],
    "helpers/commands": ["tests/project/test_metrics_alone.py"],
    "helpers/_io.py": ["tests/test_support.py", "tests/data/test_formats.py", "tests/data/test_hostile.py",
                       "tests/data/test_as_found.py", "tests/embeddings/test_cache.py", "tests/judgements",
                       "tests/report/test_parts.py"],
    "helpers/_hub.py": ["tests/test_support.py", "tests/data/test_hub.py", "tests/models/test_models.py"],
    "helpers/_optional.py": ["tests/test_support.py", "tests/project/test_metrics_alone.py"],
    "helpers/_trec_order.py": ["tests/metrics/test_inputs.py", "tests/data/test_trec.py"],
    "helpers/data/bundled": ["tests/data/test_bundled.py"],
    "helpers/data/spans.py": ["tests/chunks/test_chunks.py"],
    "helpers/data": [*(f"tests/data/test_{name}.py" for name in ("dataset", "formats", "quotes", "trec", "load",
                       "hostile", "hub", "as_found", "without_text", "bundled")), "tests/test_nothing_ignored.py"],
    "helpers/index/words.py": ["tests/index", "tests/test_scripts.py"],
    "helpers/metrics/acid": ["tests/acid/test_runner.py", "tests/acid/test_suite.py"],
    "helpers/metrics/explanation.py": ["tests/metrics/test_explain.py"],
    "helpers/metrics": [f"tests/metrics/test_{name}.py" for name in
                        ("inputs", "evaluate", "lookup", "definitions", "against_trec_eval")],
    "helpers/models": [f"tests/models/test_{name}.py" for name in
                       ("pooling", "layouts", "hostile", "models", "modern", "multilingual",
                        "precomputed")],
    "helpers/provenance.py": ["tests/test_provenance.py"],
    "helpers/report/comparison.py": ["tests/systems/test_combine.py", "tests/systems/test_quiet.py", "tests/report",
                                     "tests/test_report.py"],
    "helpers/report/__main__.py": ["tests/test_report.py"],
    "helpers/report": ["tests/report", "tests/test_report.py", "tests/systems/test_quiet.py"],
    "helpers/show/plots.py": ["tests/show/test_tables.py", "tests/show/test_vector.py"],
    "helpers/show": ["tests/show", "tests/systems/test_contenders.py", "tests/systems/test_quiet.py",
                     "tests/report"],
    "helpers/judgements/sheets.py": ["tests/judgements/test_sheets.py", "tests/judgements/test_collecting.py"],
    "helpers/plain.py": ["tests/test_plain.py", "tests/test_significance.py"],
    "helpers/significance.py": ["tests/test_significance.py", "tests/test_training.py"],
    "helpers/systems": ["tests/systems", "tests/report/test_compare.py", "tests/test_report.py"],
    "helpers/training": ["tests/test_training.py"],
}  # fmt: skip
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip


Change = tuple[ast.AST, Callable[[ast.AST], None], ast.AST]  # a node, what puts another in its place, and the other


class Mutant(NamedTuple):
    """A module with one change."""

    module: str
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        """Say where it is and what was changed."""
        return f"{self.module}:{self.line}: {self.before}  →  {self.after}"

    @property
    def digest(self) -> str:
        """Tell it from every other mutant, of this state of the module or of another."""
        return hashlib.sha256(f"{self.module}\n{self.source}".encode()).hexdigest()[:16]


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Give the faults that may stand in the place of a node."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPS:
            changed.ops = [SWAPS[type(operator)]()]
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in SWAPS:
            changed.op = SWAPS[type(operator)]()
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            changed = changed.operand
        case ast.Constant(value=bool()):
            changed.value = not changed.value
        case ast.Constant(value=int() | float()):
            changed.value += 1
        case ast.If() | ast.IfExp():
            changed.test = ast.UnaryOp(ast.Not(), changed.test)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            changed.value = ast.Constant(None)
        case ast.Raise() | ast.Expr(value=ast.Call()):
            changed = ast.Pass()
        case ast.Slice(lower=None, upper=ast.expr()):
            changed.upper = None
        case ast.Slice(lower=ast.expr()):
            changed.lower = None
        case ast.Call(keywords=[*_, ast.keyword(arg=name)]) if name not in ("help", "metavar"):
            changed.keywords = changed.keywords[:-1]
        case _:
            return
    yield ast.copy_location(changed, node)


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Give every node below that runs when its function does, and what puts another in its place."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for place, item in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(item, ast.AST) or (
                isinstance(item, ast.If) and ast.unparse(item.test) == "TYPE_CHECKING"
            ):
                continue
            yield item, partial(value.__setitem__, place) if isinstance(value, list) else partial(setattr, node, name)
            yield from _places(item)


def mutants(module: Path, draw: Callable[[list[Change]], list[Change]] = list) -> list[Mutant]:
    """Make every mutant of a module, in the order of its nodes, or those that `draw` takes."""
    tree, name, made = ast.parse(module.read_text(encoding="utf-8")), module.relative_to(ROOT).as_posix(), []
    every = [(node, put, new) for node, put in list(_places(tree)) for new in changes(node)]
    for node, put, new in draw(every):
        before, after = (ast.unparse(one).split("\n")[0][:90] for one in (node, new))
        put(new)
        made.append(Mutant(name, node.lineno, before, after, ast.unparse(tree)))
        put(node)
    return made


def own_tests(module: str) -> list[str]:
    """Name the files of tests that belong to a module, each once: the one that mirrors it first."""
    folder, mirror = Path("tests", *Path(module).parts[1:-1]), f"test_{Path(module).stem}.py"
    known = next((tests for path, tests in OWN_TESTS.items() if module.startswith(path)), [folder.as_posix()])
    files = [ROOT / folder / mirror]
    for path in (ROOT / test for test in known):
        files += sorted(path.glob("test_*.py")) if path.is_dir() else [path]
    return [file.relative_to(ROOT).as_posix() for file in dict.fromkeys(files) if file.exists()]


def start(tests: list[str], checkout: Path) -> int:
    """Run tests in a copy of the checkout, in a process of its own; its exit status tells. Return its id.

    The libraries that this process has imported are the new one's too, which saves the greater part of the time.
    """
    if process := os.fork():
        return process
    os.setsid()
    signal.alarm(LIMIT)
    os.chdir(checkout)
    with open(os.devnull, "r+b") as nothing:
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    os.environ["PYTHONPATH"] = str(checkout)
    sys.path[:] = [str(checkout), *(path for path in sys.path if path not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.split(".")[0] in COPIED]:
        del sys.modules[name]
    status = 2  # what an error outside the tests leaves
    try:
        status = int(pytest.main(["-x", "-q", "-n", "0", *tests]))
    finally:
        os._exit(status)


def sample(prefixes: list[str], share: float, seed: int) -> list[Mutant]:
    """Draw that share of each module's mutants, three at least; the same ones again for the same seed."""
    chosen = []
    for module in sorted((ROOT / "helpers").rglob("*.py")):
        rng = random.Random(f"{seed} {module.name}")
        if module.relative_to(ROOT).as_posix().startswith(tuple(prefixes)):
            chosen += mutants(
                module, lambda made, r=rng: r.sample(made, min(len(made), max(3, round(share * len(made)))))
            )
    return chosen


def results() -> dict[str, str]:
    """Read what earlier runs found: what killed a mutant, by its digest; empty for one that survived."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return {entry["digest"]: entry["killed by"] for entry in map(json.loads, lines)}


def faults(prefixes: list[str]) -> list[Mutant]:
    """Make the faults that tests once missed; they are tried beside the sample. Raises ValueError for one gone."""
    made = []
    for entry in listed("fault"):
        name, before, after = entry["module"], entry["before"], entry["after"]
        source = (ROOT / name).read_text(encoding="utf-8")
        if source.count(before) != 1:
            raise ValueError(
                f"{name} has {source.count(before)} times {before!r}: mend its entry in tests/mutants.toml."
            )
        line = source[: source.index(before)].count("\n") + 1
        made.append(Mutant(name, line, before.strip(), after.strip(), source.replace(before, after)))
    return [mutant for mutant in made if mutant.module.startswith(tuple(prefixes))]


def listed(kind: str) -> list[dict[str, str]]:
    """Read the faults of tests/mutants.toml, or each survivor: module, code before and after, part of its line, why."""
    return tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))[kind]


def is_known(mutant: Mutant, known: dict[str, str]) -> bool:
    """Tell whether a reason is that of a mutant."""
    line = (ROOT / mutant.module).read_text(encoding="utf-8").splitlines()[mutant.line - 1]
    given = (known["module"], known["before"], known["after"])
    return given == (mutant.module, mutant.before, mutant.after) and known["within"] in line


def copied(checkout: Path) -> Path:
    """Copy what the tests need."""
    checkout.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        else:
            shutil.copy(ROOT / name, checkout / name)
    return checkout


def replace(module: Path, source: str) -> None:
    """Give a module another source, and drop what was compiled of the last one, perhaps within the same second."""
    module.write_text(source, encoding="utf-8")
    for compiled in module.parent.glob(f"__pycache__/{module.stem}.*"):
        compiled.unlink()


def outcome(process: int, status: int, checkout: Path) -> str:
    """End what a run of tests left running; return the test that failed first, empty if none did."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    file = checkout / ".pytest_cache" / "v" / "cache" / "lastfailed"
    name = next(iter(json.loads(file.read_bytes()))) if file.exists() else "no test: it did not end, or pytest failed"
    file.unlink(missing_ok=True)
    shutil.rmtree(checkout / "build", ignore_errors=True)  # embeddings that a fault may have spoilt
    return name if status else ""


def run(chosen: list[Mutant], workers: int, seconds: float) -> None:
    """Try mutants, so many at a time, each in a checkout of its own, for so long."""
    killers, waiting, since = [], chosen[::-1], time.monotonic()
    RESULTS.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, RESULTS.open("a", encoding="utf-8") as file:
        free, running = [copied(Path(folder, str(number))) for number in range(workers)], {}
        while running or (waiting and time.monotonic() - since < seconds):
            while waiting and free and time.monotonic() - since < seconds:
                mutant, checkout = waiting.pop(), free.pop()
                original = (checkout / mutant.module).read_text(encoding="utf-8")
                replace(checkout / mutant.module, mutant.source)
                running[start(own_tests(mutant.module), checkout)] = mutant, checkout, original, time.monotonic()
            process, status = os.wait()
            mutant, checkout, original, began = running.pop(process)
            killers.append(outcome(process, status, checkout))
            replace(checkout / mutant.module, original)
            free.append(checkout)
            entry = {key: value for key, value in mutant._asdict().items() if key != "source"}
            entry |= {"digest": mutant.digest, "killed by": killers[-1], "seconds": round(time.monotonic() - began, 1)}
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            file.flush()
            print("." if status else f"\nsurvives: {mutant}\n", end="", flush=True)
        print(f"\n{len(killers)} tried in {time.monotonic() - since:.0f} s, {len(waiting)} left for another run.")
        confirm(killers, free[0])


def confirm(killers: list[str], checkout: Path) -> None:
    """Make sure that the tests which killed a mutant pass where nothing was changed; else they killed nothing."""
    for file in sorted({name.split("::")[0] for name in killers if "::" in name}):
        process = start(sorted({name for name in killers if name.split("::")[0] == file}), checkout)
        if name := outcome(process, os.waitpid(process, 0)[1], checkout):
            raise SystemExit(f"{name} fails without a mutant, in a copy without .git: mend it, delete {RESULTS}.")


def report(tried: list[Mutant]) -> float:
    """Print how many of each module's mutants were killed, of those that were tried; return which share of all."""
    found = results()
    tried = [mutant for mutant in tried if mutant.digest in found]
    survivors = [mutant for mutant in tried if not found[mutant.digest]]
    total, left = (Counter(mutant.module for mutant in some) for some in (tried, survivors))
    print("\nkilled  of  module")
    print("".join(f"{total[name] - left[name]:6} {total[name]:3}  {name}\n" for name in sorted(total)), end="")
    print("".join(f"survives: {mutant}\n" for mutant in survivors), end="")
    rate = 1 - len(survivors) / max(len(tried), 1)
    endless = sum("::" not in found[mutant.digest] for mutant in tried if found[mutant.digest])
    print(f"killed: {len(tried) - len(survivors)} of {len(tried)} ({rate:.0%}), {endless} of them by no single test")
    return rate


def main() -> int:
    """Draw, try and report; the exit status is 1 if fewer than nine tenths were killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", default=["helpers"], help="beginnings of module paths (helpers)")
    parser.add_argument("--share", type=float, default=0.04, help="of each module's mutants, three at least (0.04)")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=7200, help="begin none after that; run again for the rest")
    args = parser.parse_args()
    os.environ.update(SETTINGS)
    os.environ.pop("EVAL_CACHE_DIR", None)
    for name in LIBRARIES:
        importlib.import_module(name)
    drawn, reasons = sample(args.modules, args.share, args.seed), listed("survivor")
    random.Random(args.seed).shuffle(drawn)
    chosen = faults(args.modules) + drawn
    tried = [mutant for mutant in chosen if not any(is_known(mutant, known) for known in reasons)]
    found = results()
    left = [mutant for mutant in tried if not found.get(mutant.digest)]
    left.sort(key=lambda mutant: mutant.digest in found)  # those that survived an earlier run come last
    print(f"{len(chosen) - len(tried)} of {len(chosen)} are like the original, {len(tried) - len(left)} killed before.")
    run(left, args.workers, args.seconds)
    return 0 if report(tried) >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
