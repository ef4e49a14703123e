"""What a ranking cost: the seconds of each stage, and how large the index is."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

ANSWERING = ("queries", "search", "fuse", "rerank")  # the stages of each query
STAGES = ("load", "passages", *ANSWERING)


@dataclass
class Cost:
    """What a ranking cost.

    Attributes:
        seconds: by the name of the stage, see ``STAGES``.
        index_bytes: None where the index does not say.
        failed_in: the stage in which it failed, "" where it did not, or failed outside of all.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    index_bytes: int | None = None
    failed_in: str = ""


_current: ContextVar[Cost | None] = ContextVar("cost", default=None)


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Collect the cost of what is ranked in this block; what a nested block measures is left to that one."""
    cost = Cost()
    token = _current.set(cost)
    try:
        yield cost
    finally:
        _current.reset(token)


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Add the wall-clock seconds of this block to a stage, and note if it failed; no-op outside :func:`measured`.

    The seconds of a stage within it are that stage's alone.
    """
    cost, start = _current.get(), time.perf_counter()
    before = sum(cost.seconds.values()) if cost is not None else 0.0
    try:
        yield
    except Exception:
        if cost is not None:
            cost.failed_in = cost.failed_in or name
        raise
    finally:
        if cost is not None:
            inner = sum(cost.seconds.values()) - before
            cost.seconds[name] = cost.seconds.get(name, 0.0) + time.perf_counter() - start - inner


def note_index(index: object) -> None:
    """Note the bytes of an index: the codes of a FAISS index, without its lists and links."""
    cost = _current.get()
    if cost is not None and hasattr(index, "sa_code_size") and hasattr(index, "ntotal"):
        with contextlib.suppress(RuntimeError):  # a kind of FAISS index without codes of its own
            cost.index_bytes = int(index.ntotal) * int(index.sa_code_size())
