"""Hand tasks to a cluster, a few at a time, and take their results in order."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import TypeVar

from distributed import Client, Future
from distributed.client import ClosedClientError
from distributed.scheduler import KilledWorker, NoWorkerError

from helpers.distributed.cluster import RETRIES

T = TypeVar("T")
Arguments = TypeVar("Arguments", bound=tuple[object, ...])
AHEAD = 3  # tasks in flight for each thread of the cluster: one computes, the others are on their way


def in_order(
    client: Client, call: Callable[..., T], tasks: Iterable[Arguments], name: str
) -> Generator[tuple[Arguments, T], None, None]:
    """Run ``call(*task)`` on workers for a stream of tasks, and give each task with its result, in order.

    Only a few tasks for each thread of the cluster are taken from the stream ahead of the result that is given next.
    Tasks still in flight when the caller stops are cancelled.
    """
    run, numbered = secrets.token_hex(4), enumerate(tasks)
    waiting: deque[tuple[int, Arguments, Future]] = deque()
    try:
        while True:
            with _scheduler_reached():
                room = AHEAD * max(1, sum(client.nthreads().values())) - len(waiting)
            for number, task in itertools.islice(numbered, max(0, room)):
                with _scheduler_reached():
                    key = f"{name}-{run}-{number}"
                    waiting.append((number, task, client.submit(call, *task, key=key, retries=RETRIES, pure=False)))
            if not waiting:
                return
            number, task, future = waiting[0]
            _raise_error(future, f"{name} {number}")
            with _scheduler_reached():
                result: T = future.result()
            waiting.popleft()
            yield task, result
    finally:
        if waiting:  # Dask tells every client of a cancellation, and a client that is just connecting would stop at it
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel([future for _, _, future in waiting])


@contextlib.contextmanager
def _scheduler_reached() -> Iterator[None]:
    """Raise a ConnectionError of one sentence where the scheduler is gone."""
    try:
        yield
    except (OSError, CancelledError, ClosedClientError) as error:
        raise ConnectionError(
            f"The Dask scheduler is gone ({str(error)!r:.200}). What was finished is kept: the same call again goes on."
        ) from error


def _raise_error(future: Future, task: str) -> None:
    """Wait for the end of a task, and raise its error, if any, in one sentence with its name and the cause."""
    with _scheduler_reached():
        error = future.exception()
        if isinstance(error, CancelledError):
            raise error
    if error is None:
        return
    if isinstance(error, KilledWorker):
        cause = f"its worker died, {RETRIES + 1} times. Is there enough memory for the model and a batch?"
    elif isinstance(error, NoWorkerError):
        cause = "no worker is left, and none came back."
    else:
        cause = f"failed, {RETRIES + 1} times ({type(error).__name__}: {str(error)!r:.500})."
    raise RuntimeError(f"{task}: {cause}") from error
