"""The conditions that must not change the record of a lesson, and its execution under each of them.

Seeds of noise are the cheap proof: every cached vector is moved at random by NOISE, more than another processor, thread
count or batch size moves it, and the lesson is executed on the moved vectors. The other condition computes the vectors
again, with an older instruction set and one thread.
"""

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from nbformat import NotebookNode

from helpers.embeddings.shards import MANIFEST
from helpers.embeddings.store import Store

from .compare import Difference, compare
from .execute import cache_folder, execute
from .notebooks import NotebookError, lesson_path, read

NOISE = 5e-6  # length of the vector that is added to one of length 1

# Variables that hold the numeric libraries to instructions older than those of the processor.
BASELINE = {
    "ATEN_CPU_CAPABILITY": "default",
    "FAISS_OPT_LEVEL": "generic",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "OPENBLAS_CORETYPE": "Nehalem",
}


class Condition(NamedTuple):
    """One way to execute a lesson."""

    name: str
    environment: dict[str, str]  # of the kernel
    seed: int | None  # of the noise on cached vectors; None computes all vectors again


_NOISE = [Condition(f"noise, seed {seed}", {}, seed) for seed in (1, 2, 3)]
_THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
CONDITIONS = [*_NOISE, Condition("SSE4, one thread", BASELINE | _THREADS, None)]
RECORDING = CONDITIONS[:1]  # which `record` tries; `matrix` tries all


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
        folders = [usual, *(path for path in sorted(usual.rglob("*")) if path.is_dir())]
        for source in folders if seed is not None else ():
            old, new = Store(source), Store(folder / source.relative_to(usual))
            manifest = old.read_text(MANIFEST)  # has the checksums of the vectors beside it
            for stem in sorted(path.stem for path in source.glob("*.npy")):
                if (vectors := old.read(stem)) is not None:
                    new.write(stem, shake(vectors, seed or 0))
                    manifest = manifest and manifest.replace(old.seal(stem), new.seal(stem))
            if manifest:
                new.write_text(MANIFEST, manifest)
        yield folder


def differences(book: NotebookNode, label: str, condition: Condition, cache: Path, *, root: Path) -> list[Difference]:
    """Execute a lesson under a condition, with a temporary cache, and return where its outputs are not those it has."""
    environment = condition.environment | {"EVAL_CACHE_DIR": str(cache)}
    return compare(book, execute(book, label, root=root, limit=None, environment=environment))


def matrix(root: Path, names: Sequence[str], only: Sequence[str] | None = None) -> list[str]:
    """Return a line for each difference under each condition; prints a verdict as each lesson ends.

    The lessons share a cache under each condition, so that it computes a vector once.
    """
    details = []
    for condition in [each for each in CONDITIONS if not only or any(text in each.name for text in only)]:
        with temporary_cache(root, condition.seed) as cache:
            for name in names:
                book = read(lesson_path(root, "en", name), root)
                try:
                    unlike = list(map(str, differences(book, name, condition, cache, root=root)))
                except NotebookError as error:
                    unlike = [str(error)]
                details += [f"{name}, {condition.name}: {line}" for line in unlike]
                print(f"{name}, {condition.name}: {f'{len(unlike)} differ' if unlike else 'as recorded'}", flush=True)
    return details
