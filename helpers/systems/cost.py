"""The cost of a ranking: the seconds of each stage."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

ANSWERING = ("queries", "search", "fuse", "rerank")  # the stages of answering a query
STAGES = ("load", "passages", *ANSWERING)


@dataclass
class Cost:
    """Wall-clock seconds by stage, see ``STAGES``, and the stage that raised, if one did."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed_in: str = ""


_current: ContextVar[Cost | None] = ContextVar("cost", default=None)


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Collect the cost of the rankings in this block, without those in nested blocks of the same kind."""
    cost = Cost()
    token = _current.set(cost)
    try:
        yield cost
    finally:
        _current.reset(token)


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Add the seconds of this block to a stage and record a failure, if measured."""
    cost, start = _current.get() or Cost(), time.perf_counter()
    try:
        yield
    except Exception:
        cost.failed_in = cost.failed_in or name
        raise
    finally:
        cost.seconds[name] = cost.seconds.get(name, 0.0) + time.perf_counter() - start
