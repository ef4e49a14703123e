"""What a run of a lesson depends on, as a digest that this machine keeps below build/, and no commit carries."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from notebooks.kit.execute import OFFLINE

FOLDERS = ("helpers", "notebooks/kit", "tests/lessons")
FACTS = ("model name", "flags", "Features")  # of a processor, as /proc/cpuinfo has them


class Stamp:
    """The stamp of a test that executes a lesson, by the test's name."""

    def __init__(self, root: Path, test: str, lesson: str) -> None:
        """Name the file; the ingredients are read when they are asked for."""
        self.root, self.lesson = root, lesson
        self.path = root / "build" / "stamps" / hashlib.sha256(test.encode()).hexdigest()[:16]

    def ingredients(self) -> Iterator[bytes]:
        """Yield the lesson in all editions, the package with its data, the tools, the lock, and the machine's facts."""
        paths = [path for folder in FOLDERS for path in (self.root / folder).rglob("*")]
        paths += [*(self.root / "notebooks").rglob(f"{self.lesson}*"), self.root / "constraints.txt"]
        for path in sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts):
            yield path.relative_to(self.root).as_posix().encode()
            yield path.read_bytes()
        yield from sorted(f"{one.name} {one.version}".encode() for one in metadata.distributions())
        cpuinfo = Path("/proc/cpuinfo")
        lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else [platform.processor()]
        yield from sorted({line.encode() for line in lines if line.startswith(FACTS)})
        settings = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", *OFFLINE)}
        yield repr((platform.platform(), platform.python_version(), os.cpu_count(), settings)).encode()

    def digest(self) -> str:
        """Return the digest of all ingredients."""
        parts = (hashlib.sha256(part).digest() for part in self.ingredients())
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def holds(self) -> bool:
        """Return whether the test passed with just these ingredients."""
        return self.path.exists() and self.path.read_text("utf-8") == self.digest()

    def write(self) -> None:
        """Keep that the test passed."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.digest(), encoding="utf-8")
