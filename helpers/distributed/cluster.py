"""Hand a Dask cluster tasks whose results come in order."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import TypeVar

from helpers._optional import from_extra

with from_extra("distributed"):
    from distributed import Client, Future
    from distributed.client import ClosedClientError

T = TypeVar("T")
Arguments = TypeVar("Arguments", bound=tuple[object, ...])
RETRIES = 3  # of a shard, after an error and after the death of its worker
AHEAD = 3  # tasks in flight for each thread of the cluster: one computes, the others are on their way


def in_order(
    client: Client, call: Callable[..., T], tasks: Iterable[Arguments], name: str
) -> Generator[tuple[Arguments, T], None, None]:
    """Run ``call(*task)`` on workers for a stream of tasks, a few ahead; give each with its result, in order."""
    run, numbered = secrets.token_hex(4), enumerate(tasks)
    waiting: deque[tuple[int, Arguments, Future]] = deque()
    try:
        while True:
            with _scheduler_reached():
                room = AHEAD * max(1, sum(client.nthreads().values())) - len(waiting)
            for number, task in itertools.islice(numbered, max(0, room)):
                with _scheduler_reached():
                    key = f"{name}-{run}-{number}"
                    waiting.append((number, task, client.submit(call, *task, key=key, retries=RETRIES)))
            if not waiting:
                return
            number, task, future = waiting[0]
            with _scheduler_reached():
                error = future.exception()
                if isinstance(error, CancelledError):
                    raise error
                result: T | None = future.result() if error is None else None
            if error is not None:
                cause = f"failed, {RETRIES + 1} times ({type(error).__name__}: {str(error)!r:.500})"
                raise RuntimeError(f"{name} {number}: {cause}.") from error
            waiting.popleft()
            yield task, result  # type: ignore[misc]
    finally:
        if waiting:  # Dask tells every client of a cancellation, and a client that is just connecting would stop at it
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel([future for _, _, future in waiting])


@contextlib.contextmanager
def _scheduler_reached() -> Iterator[None]:
    try:
        yield
    except (OSError, CancelledError, ClosedClientError) as error:
        raise ConnectionError(
            f"The Dask scheduler is gone ({str(error)!r:.200}). What was finished is kept: the same call again goes on."
        ) from error
