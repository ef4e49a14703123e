"""The conditions that must not change the record of a lesson, and its execution under each of them.

Seeds of noise are the cheap proof: every cached vector is moved at random by NOISE, more than another processor, thread
count or batch size moves it, and the lesson is executed on the moved vectors. The other conditions compute the vectors
again: on older instruction sets, with another number of threads, in batches of another size.
"""

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from nbformat import NotebookNode

from helpers.embeddings.shards import MANIFEST
from helpers.embeddings.store import Store

from .compare import Difference, compare
from .execute import CELL_LIMIT, Parameters, cache_folder, execute, parameter_names
from .notebooks import NotebookError, lesson_path, read

NOISE = 5e-6  # length of the vector that is added to one of length 1; docs/en/machines.md has the measurements
SEEDS = (1, 2, 3)

# Variables that hold the numeric libraries to instructions older than those of the processor.
BASELINE = {
    "ATEN_CPU_CAPABILITY": "default",
    "FAISS_OPT_LEVEL": "generic",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "OPENBLAS_CORETYPE": "Nehalem",
}
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "FAISS_OPT_LEVEL": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
}


@dataclass(frozen=True)
class Condition:
    """One way to execute a lesson.

    Attributes:
        environment: variables of the kernel.
        parameters: values for the cell tagged `parameters`.
        seed: of the noise on cached vectors; None computes all vectors again.
    """

    environment: dict[str, str] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    seed: int | None = None


def _threads(number: int) -> dict[str, str]:
    return {f"{name}_NUM_THREADS": str(number) for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}


def recording_conditions(notebook: NotebookNode) -> dict[str, Condition]:
    """Return by name the condition that `record` tries: one seed of noise. `matrix` tries all."""
    return {f"noise, seed {SEEDS[0]}": Condition(seed=SEEDS[0])}


def conditions(notebook: NotebookNode) -> dict[str, Condition]:
    """Return all conditions by name; batch sizes only for a lesson whose `parameters` cell has a `BATCH_SIZE`."""
    named = {f"noise, seed {seed}": Condition(seed=seed) for seed in SEEDS}
    batch: Parameters = {"BATCH_SIZE": 1} if "BATCH_SIZE" in parameter_names(notebook) else {}
    named |= {"SSE4, one thread": Condition(BASELINE | _threads(1), batch), "AVX2": Condition(AVX2)}
    named |= {f"threads {number}": Condition(_threads(number)) for number in (2, 4)}
    if "BATCH_SIZE" in parameter_names(notebook):
        named |= {f"batch size {size}": Condition(parameters={"BATCH_SIZE": size}) for size in (1, 256)}
    return named


def shake(vectors: np.ndarray, seed: int) -> np.ndarray:
    """Return vectors (n, dim) moved by noise of length NOISE, relatively; their lengths and equal rows stay equal.

    A dimension is moved in step with the size of its values: rounding leaves those that are always nearly 0 where they
    are, as three of MiniLM's.
    """
    moved = np.array(vectors, dtype=np.float32)
    sizes = np.sqrt(np.mean(moved.astype(np.float64) ** 2, axis=0))
    spread = NOISE * np.sqrt(3) * sizes / (np.linalg.norm(sizes) or 1)
    for row in moved:
        length = np.linalg.norm(row)
        noise = np.random.default_rng([seed, zlib.crc32(row.tobytes())]).uniform(-spread, spread)
        row += (noise * length).astype(np.float32)
        if length:
            row *= length / np.linalg.norm(row)
    return moved


@contextmanager
def temporary_cache(root: Path, seed: int | None) -> Iterator[Path]:
    """Yield a temporary cache: without vectors, or with those of the usual cache, shaken."""
    usual = cache_folder(root)
    with tempfile.TemporaryDirectory(prefix="cache-") as name:
        folder = Path(name)
        if (usual / "models").exists():  # decoded weights, which no condition changes
            try:
                shutil.copytree(usual / "models", folder / "models", copy_function=os.link)
            except OSError:  # another process is writing them: the lesson decodes its own
                shutil.rmtree(folder / "models")
        if seed is not None:
            for source in [usual, *(path for path in sorted(usual.rglob("*")) if path.is_dir())]:
                _shake_files(source, folder / source.relative_to(usual), seed)
        yield folder


def _shake_files(source: Path, target: Path, seed: int) -> None:
    """Write the shaken vectors of one folder into another, and its manifest, if it has one, with their checksums."""
    old, new = Store(source), Store(target)
    text = old.read_text(MANIFEST)
    for name in sorted(path.stem for path in source.glob("*.npy")):
        if (vectors := old.read(name)) is not None:
            new.write(name, shake(vectors, seed))
            text = text and text.replace(old.seal(name), new.seal(name))
    if text:
        new.write_text(MANIFEST, text)


def differences(
    notebook: NotebookNode, label: str, condition: Condition, cache: Path, *, root: Path, limit: int = 4 * CELL_LIMIT
) -> list[Difference]:
    """Execute a lesson under a condition, with a temporary cache, and return where its outputs are not those it has."""
    environment = condition.environment | {"EVAL_CACHE_DIR": str(cache)}
    fresh = execute(notebook, label, root=root, limit=limit, environment=environment, parameters=condition.parameters)
    return compare(notebook, fresh)


def matrix(root: Path, names: Sequence[str], only: Sequence[str] | None = None) -> list[str]:
    """Return a line for each difference under each condition; prints a verdict as each lesson ends.

    The lessons share a cache under each condition, so that it computes a vector once.
    """
    details = []
    books = {name: read(lesson_path(root, "en", name), root) for name in names}
    labels = dict.fromkeys(label for book in books.values() for label in conditions(book))
    for label in [label for label in labels if not only or any(text in label for text in only)]:
        chosen = {name: settings[label] for name, book in books.items() if label in (settings := conditions(book))}
        with temporary_cache(root, next(iter(chosen.values())).seed) as cache:
            for name, condition in chosen.items():
                try:
                    unlike = list(map(str, differences(books[name], name, condition, cache, root=root)))
                except NotebookError as error:
                    unlike = [str(error)]
                details += [f"{name}, {label}: {line}" for line in unlike]
                print(f"{name}, {label}: {f'{len(unlike)} differ' if unlike else 'as recorded'}", flush=True)
    return details
